// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <tightloop/backends/cpu/codegen/target.h>
#include <tightloop/ir/scalar.h>

namespace tightloop::backends::cpu {

/// What values of `dtype` are computed in: bf16 and f16 travel as f32 values that they can hold.
constexpr DType compute_dtype(DType d) { return d == DType::bf16 || d == DType::f16 ? DType::f32 : d; }
/// The LLVM type that one element of `dtype` is computed in (bool is i1).
llvm::Type* element_type(llvm::LLVMContext& context, DType dtype);
/// The type it is stored as (bool is i8, bf16 and f16 are their bits).
llvm::Type* memory_type(llvm::LLVMContext& context, DType dtype);

/// Op bodies into LLVM IR. A value is an LLVM scalar (the same for all lanes) or a vector; mixed operands are
/// widened.
class VectorBuilder final : public ir::ScalarBuilder {
 public:
  VectorBuilder(llvm::IRBuilder<>& b, const Target& target) : b_(b), target_(target) {}

  using Scalar = ir::Scalar;
  Scalar wrap(llvm::Value* v, DType dtype) { return {v, compute_dtype(dtype), this}; }
  static llvm::Value* value(Scalar s) { return static_cast<llvm::Value*>(s.handle); }
  void set_element_index(llvm::Value* v) { element_index_ = v; }

  Scalar constant(DType dtype, double v) override;
  Scalar constant_int(DType dtype, std::int64_t v) override;
  Scalar add(Scalar a, Scalar b) override;
  Scalar sub(Scalar a, Scalar b) override;
  Scalar mul(Scalar a, Scalar b) override;
  Scalar div(Scalar a, Scalar b) override;
  Scalar rem(Scalar a, Scalar b) override;
  Scalar fma(Scalar a, Scalar b, Scalar c) override;
  Scalar sqrt(Scalar a) override;
  Scalar reciprocal_estimate(Scalar a) override;
  Scalar rsqrt_estimate(Scalar a) override;
  bool estimates_pay(Scalar a) const override;
  Scalar abs(Scalar a) override;
  Scalar neg(Scalar a) override;
  Scalar floor(Scalar a) override;
  Scalar ceil(Scalar a) override;
  Scalar trunc(Scalar a) override;
  Scalar round(Scalar a) override;
  Scalar copysign(Scalar magnitude, Scalar sign) override;
  Scalar min(Scalar a, Scalar b) override;
  Scalar max(Scalar a, Scalar b) override;
  Scalar compare(ir::Compare c, Scalar a, Scalar b) override;
  Scalar select(Scalar condition, Scalar a, Scalar b) override;
  Scalar bit_and(Scalar a, Scalar b) override;
  Scalar bit_or(Scalar a, Scalar b) override;
  Scalar bit_xor(Scalar a, Scalar b) override;
  Scalar shift_left(Scalar a, int bits) override;
  Scalar shift_right(Scalar a, int bits) override;
  Scalar convert(Scalar a, DType to) override;
  Scalar widen_unsigned(Scalar a) override;
  Scalar bitcast(Scalar a, DType to) override;
  Scalar libm(std::string_view function, std::initializer_list<Scalar> args) override;
  Scalar element_index() override;

  /// Between memory and registers.
  llvm::Value* from_memory(llvm::Value* raw, DType dtype);
  llvm::Value* to_memory(llvm::Value* value, DType dtype);

  /// `like`'s element type with its number of lanes.
  llvm::Type* shaped(llvm::Type* element, llvm::Value* like) const;

 private:
  void match(Scalar& a, Scalar& b);
  Scalar unary(llvm::Intrinsic::ID id, Scalar a);
  Scalar integer_divide(Scalar a, Scalar b, bool remainder);
  Scalar smaller_or_larger(Scalar a, Scalar b, bool smaller);

  Scalar estimate(llvm::Intrinsic::ID id, Scalar a);

  llvm::IRBuilder<>& b_;
  const Target& target_;
  llvm::Value* element_index_ = nullptr;
};

}  // namespace tightloop::backends::cpu
