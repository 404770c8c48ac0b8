// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <tightloop/backends/cpu/codegen/vector_builder.h>
#include <tightloop/base/error.h>

namespace tightloop::backends::cpu {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

bool is_unsigned(DType d) { return d == DType::u8 || d == DType::boolean; }

}  // namespace

llvm::Type* element_type(llvm::LLVMContext& c, DType dtype) {
  switch (dtype) {
    case DType::bf16:
    case DType::f16:
    case DType::f32:
      return llvm::Type::getFloatTy(c);
    case DType::f64:
      return llvm::Type::getDoubleTy(c);
    case DType::i32:
      return llvm::Type::getInt32Ty(c);
    case DType::i64:
      return llvm::Type::getInt64Ty(c);
    case DType::u8:
      return llvm::Type::getInt8Ty(c);
    case DType::boolean:
      return llvm::Type::getInt1Ty(c);
  }
  throw InternalError("element_type: unknown dtype");
}

llvm::Type* memory_type(llvm::LLVMContext& c, DType dtype) {
  if (dtype == DType::boolean) return llvm::Type::getInt8Ty(c);
  return compute_dtype(dtype) == dtype ? element_type(c, dtype) : llvm::Type::getInt16Ty(c);
}

llvm::Type* VectorBuilder::shaped(llvm::Type* element, Value* like) const {
  const auto* v = llvm::dyn_cast<llvm::VectorType>(like->getType());
  return v == nullptr ? element : llvm::VectorType::get(element, v->getElementCount());
}

void VectorBuilder::match(Scalar& a, Scalar& b) {
  const bool va = value(a)->getType()->isVectorTy();
  const bool vb = value(b)->getType()->isVectorTy();
  if (va == vb) return;
  Scalar& narrow = va ? b : a;
  const auto* wide = llvm::cast<llvm::FixedVectorType>(value(va ? a : b)->getType());
  narrow.handle = b_.CreateVectorSplat(wide->getNumElements(), value(narrow));
}

ir::Scalar VectorBuilder::constant(DType dtype, double v) {
  if (is_floating(dtype)) return wrap(llvm::ConstantFP::get(element_type(b_.getContext(), dtype), v), dtype);
  return constant_int(dtype, static_cast<std::int64_t>(v));
}

ir::Scalar VectorBuilder::constant_int(DType dtype, std::int64_t v) {
  if (is_floating(dtype)) return constant(dtype, static_cast<double>(v));
  if (dtype == DType::boolean) v = v != 0;
  return wrap(
      llvm::ConstantInt::get(element_type(b_.getContext(), dtype), static_cast<std::uint64_t>(v), true),
      dtype);
}

ir::Scalar VectorBuilder::add(Scalar a, Scalar b) {
  match(a, b);
  if (a.dtype == DType::boolean) return bit_or(a, b);
  Value* v = is_floating(a.dtype) ? b_.CreateFAdd(value(a), value(b)) : b_.CreateAdd(value(a), value(b));
  return wrap(v, a.dtype);
}

ir::Scalar VectorBuilder::sub(Scalar a, Scalar b) {
  match(a, b);
  Value* v = is_floating(a.dtype) ? b_.CreateFSub(value(a), value(b)) : b_.CreateSub(value(a), value(b));
  return wrap(v, a.dtype);
}

ir::Scalar VectorBuilder::mul(Scalar a, Scalar b) {
  match(a, b);
  if (a.dtype == DType::boolean) return bit_and(a, b);
  Value* v = is_floating(a.dtype) ? b_.CreateFMul(value(a), value(b)) : b_.CreateMul(value(a), value(b));
  return wrap(v, a.dtype);
}

ir::Scalar VectorBuilder::integer_divide(Scalar a, Scalar b, bool remainder) {
  Value* zero = llvm::Constant::getNullValue(value(b)->getType());
  Value* by_zero = b_.CreateICmpEQ(value(b), zero);
  Value* one = llvm::ConstantInt::get(value(b)->getType(), 1);
  Value* unsafe = by_zero;
  Value* negated = nullptr;
  if (!is_unsigned(a.dtype)) {  // the smallest integer over -1 traps: negation gives the wrapped quotient
    Value* minus_one = b_.CreateICmpEQ(value(b), llvm::Constant::getAllOnesValue(value(b)->getType()));
    unsafe = b_.CreateOr(unsafe, minus_one);
    negated = b_.CreateSelect(minus_one, remainder ? zero : b_.CreateNeg(value(a)), zero);
  }
  Value* divisor = b_.CreateSelect(unsafe, one, value(b));
  Value* r = nullptr;
  if (is_unsigned(a.dtype))
    r = remainder ? b_.CreateURem(value(a), divisor) : b_.CreateUDiv(value(a), divisor);
  else
    r = remainder ? b_.CreateSRem(value(a), divisor) : b_.CreateSDiv(value(a), divisor);
  return wrap(b_.CreateSelect(unsafe, negated == nullptr ? zero : negated, r), a.dtype);
}

ir::Scalar VectorBuilder::div(Scalar a, Scalar b) {
  match(a, b);
  return is_floating(a.dtype) ? wrap(b_.CreateFDiv(value(a), value(b)), a.dtype)
                              : integer_divide(a, b, false);
}

ir::Scalar VectorBuilder::rem(Scalar a, Scalar b) {
  match(a, b);
  return is_floating(a.dtype) ? libm("fmod", {a, b}) : integer_divide(a, b, true);
}

ir::Scalar VectorBuilder::fma(Scalar a, Scalar b, Scalar c) {
  match(a, b);
  match(a, c);
  match(b, c);
  return wrap(b_.CreateIntrinsic(value(a)->getType(), Intrinsic::fma, {value(a), value(b), value(c)}),
              a.dtype);
}

ir::Scalar VectorBuilder::unary(Intrinsic::ID id, Scalar a) {
  return wrap(b_.CreateUnaryIntrinsic(id, value(a)), a.dtype);
}

ir::Scalar VectorBuilder::sqrt(Scalar a) { return unary(Intrinsic::sqrt, a); }

bool VectorBuilder::estimates_pay(Scalar a) const {
  const auto* v = llvm::dyn_cast<llvm::FixedVectorType>(value(a)->getType());
  return target_.avx512 && a.dtype == DType::f32 && v != nullptr && v->getNumElements() == 16;
}

ir::Scalar VectorBuilder::estimate(Intrinsic::ID id, Scalar a) {
  Value* none = llvm::Constant::getNullValue(value(a)->getType());
  return wrap(b_.CreateIntrinsic(id, {}, {value(a), none, b_.getInt16(0xffff)}), a.dtype);
}

ir::Scalar VectorBuilder::reciprocal_estimate(Scalar a) {
  return estimates_pay(a) ? estimate(Intrinsic::x86_avx512_rcp14_ps_512, a)
                          : ScalarBuilder::reciprocal_estimate(a);
}

ir::Scalar VectorBuilder::rsqrt_estimate(Scalar a) {
  return estimates_pay(a) ? estimate(Intrinsic::x86_avx512_rsqrt14_ps_512, a)
                          : ScalarBuilder::rsqrt_estimate(a);
}

ir::Scalar VectorBuilder::abs(Scalar a) {
  if (is_floating(a.dtype)) return unary(Intrinsic::fabs, a);
  if (is_unsigned(a.dtype)) return a;
  return wrap(b_.CreateBinaryIntrinsic(Intrinsic::abs, value(a), b_.getFalse()), a.dtype);
}

ir::Scalar VectorBuilder::neg(Scalar a) {
  return wrap(is_floating(a.dtype) ? b_.CreateFNeg(value(a)) : b_.CreateNeg(value(a)), a.dtype);
}

ir::Scalar VectorBuilder::floor(Scalar a) { return is_floating(a.dtype) ? unary(Intrinsic::floor, a) : a; }
ir::Scalar VectorBuilder::ceil(Scalar a) { return is_floating(a.dtype) ? unary(Intrinsic::ceil, a) : a; }
ir::Scalar VectorBuilder::trunc(Scalar a) { return is_floating(a.dtype) ? unary(Intrinsic::trunc, a) : a; }
ir::Scalar VectorBuilder::round(Scalar a) {
  return is_floating(a.dtype) ? unary(Intrinsic::roundeven, a) : a;
}

ir::Scalar VectorBuilder::copysign(Scalar magnitude, Scalar sign) {
  match(magnitude, sign);
  return wrap(b_.CreateBinaryIntrinsic(Intrinsic::copysign, value(magnitude), value(sign)), magnitude.dtype);
}

ir::Scalar VectorBuilder::smaller_or_larger(Scalar a, Scalar b, bool smaller) {
  match(a, b);
  if (a.dtype == DType::boolean) return smaller ? bit_and(a, b) : bit_or(a, b);
  if (!is_floating(a.dtype)) {
    const auto id = is_unsigned(a.dtype) ? (smaller ? Intrinsic::umin : Intrinsic::umax)
                                         : (smaller ? Intrinsic::smin : Intrinsic::smax);
    return wrap(b_.CreateBinaryIntrinsic(id, value(a), value(b)), a.dtype);
  }
  // a unless b is beyond it or NaN; a itself NaN makes both comparisons unordered, which keeps a.
  Value* beyond = smaller ? b_.CreateFCmpOLT(value(b), value(a)) : b_.CreateFCmpOGT(value(b), value(a));
  Value* take_b = b_.CreateOr(beyond, b_.CreateFCmpUNO(value(b), value(b)));
  return wrap(b_.CreateSelect(take_b, value(b), value(a)), a.dtype);
}

ir::Scalar VectorBuilder::min(Scalar a, Scalar b) { return smaller_or_larger(a, b, true); }
ir::Scalar VectorBuilder::max(Scalar a, Scalar b) { return smaller_or_larger(a, b, false); }

ir::Scalar VectorBuilder::compare(ir::Compare c, Scalar a, Scalar b) {
  using P = llvm::CmpInst;
  match(a, b);
  static constexpr P::Predicate kFloat[]{P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT,
                                         P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
  static constexpr P::Predicate kSigned[]{P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_SLT,
                                          P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  static constexpr P::Predicate kUnsigned[]{P::ICMP_EQ,  P::ICMP_NE,  P::ICMP_ULT,
                                            P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  const auto i = static_cast<std::size_t>(c);
  const auto predicate = is_floating(a.dtype) ? kFloat[i] : is_unsigned(a.dtype) ? kUnsigned[i] : kSigned[i];
  return wrap(b_.CreateCmp(predicate, value(a), value(b)), DType::boolean);
}

ir::Scalar VectorBuilder::select(Scalar condition, Scalar a, Scalar b) {
  match(a, b);
  if (value(condition)->getType()->isVectorTy()) {
    match(condition, a);
    match(condition, b);
  }
  return wrap(b_.CreateSelect(value(condition), value(a), value(b)), a.dtype);
}

ir::Scalar VectorBuilder::bit_and(Scalar a, Scalar b) {
  match(a, b);
  return wrap(b_.CreateAnd(value(a), value(b)), a.dtype);
}

ir::Scalar VectorBuilder::bit_or(Scalar a, Scalar b) {
  match(a, b);
  return wrap(b_.CreateOr(value(a), value(b)), a.dtype);
}

ir::Scalar VectorBuilder::bit_xor(Scalar a, Scalar b) {
  match(a, b);
  return wrap(b_.CreateXor(value(a), value(b)), a.dtype);
}

ir::Scalar VectorBuilder::shift_left(Scalar a, int bits) {
  return wrap(b_.CreateShl(value(a), static_cast<std::uint64_t>(bits)), a.dtype);
}

ir::Scalar VectorBuilder::shift_right(Scalar a, int bits) {
  return wrap(b_.CreateLShr(value(a), static_cast<std::uint64_t>(bits)), a.dtype);
}

Value* VectorBuilder::from_memory(Value* raw, DType dtype) {
  if (dtype == DType::boolean) return b_.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType()));
  if (dtype == DType::f16)
    return b_.CreateFPExt(b_.CreateBitCast(raw, shaped(b_.getHalfTy(), raw)), shaped(b_.getFloatTy(), raw));
  if (dtype != DType::bf16) return raw;
  return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(raw, shaped(b_.getInt32Ty(), raw)), 16),
                          shaped(b_.getFloatTy(), raw));
}

Value* VectorBuilder::to_memory(Value* value, DType dtype) {
  if (dtype == DType::boolean) return b_.CreateZExt(value, shaped(b_.getInt8Ty(), value));
  llvm::Type* i16 = shaped(b_.getInt16Ty(), value);
  if (dtype == DType::f16)
    return b_.CreateBitCast(b_.CreateFPTrunc(value, shaped(b_.getHalfTy(), value)), i16);
  if (dtype != DType::bf16) return value;
  return b_.CreateTrunc(b_.CreateLShr(b_.CreateBitCast(value, shaped(b_.getInt32Ty(), value)), 16), i16);
}

ir::Scalar VectorBuilder::convert(Scalar a, DType to) {
  if (a.dtype == to) return a;
  llvm::Type* type = shaped(element_type(b_.getContext(), to), value(a));
  Value* v = value(a);
  if (to == DType::boolean) return compare(ir::Compare::ne, a, constant(a.dtype, 0));
  if (is_floating(a.dtype) && is_floating(to)) return wrap(b_.CreateFPCast(v, type), to);
  if (is_floating(to))
    return wrap(is_unsigned(a.dtype) ? b_.CreateUIToFP(v, type) : b_.CreateSIToFP(v, type), to);
  if (is_floating(a.dtype)) {
    const auto id = is_unsigned(to) ? Intrinsic::fptoui_sat : Intrinsic::fptosi_sat;
    return wrap(b_.CreateIntrinsic(id, {type, v->getType()}, {v}), to);
  }
  return wrap(b_.CreateIntCast(v, type, !is_unsigned(a.dtype)), to);
}

ir::Scalar VectorBuilder::widen_unsigned(Scalar a) {
  return wrap(b_.CreateZExt(value(a), shaped(b_.getInt64Ty(), value(a))), DType::i64);
}

ir::Scalar VectorBuilder::bitcast(Scalar a, DType to) {
  return wrap(b_.CreateBitCast(value(a), shaped(element_type(b_.getContext(), to), value(a))), to);
}

ir::Scalar VectorBuilder::libm(std::string_view function, std::initializer_list<Scalar> args) {
  std::vector<Scalar> matched(args);
  for (Scalar& a : matched)
    for (Scalar& b : matched) match(a, b);
  const DType dtype = matched[0].dtype;
  llvm::Type* type = element_type(b_.getContext(), dtype);
  const std::string symbol = std::string(function) + (dtype == DType::f32 ? "f" : "");
  const auto callee = b_.GetInsertBlock()->getModule()->getOrInsertFunction(
      symbol, llvm::FunctionType::get(type, std::vector<llvm::Type*>(matched.size(), type), false));
  const auto call = [&](const std::vector<Value*>& lanes) { return b_.CreateCall(callee, lanes); };
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value(matched[0])->getType());
  std::vector<Value*> lane(matched.size());
  if (vector == nullptr) {
    for (std::size_t i = 0; i < lane.size(); ++i) lane[i] = value(matched[i]);
    return wrap(call(lane), dtype);
  }
  Value* out = llvm::PoisonValue::get(value(matched[0])->getType());
  for (unsigned l = 0; l < vector->getNumElements(); ++l) {
    for (std::size_t i = 0; i < lane.size(); ++i) lane[i] = b_.CreateExtractElement(value(matched[i]), l);
    out = b_.CreateInsertElement(out, call(lane), l);
  }
  return wrap(out, dtype);
}

ir::Scalar VectorBuilder::element_index() {
  require(element_index_ != nullptr, "VectorBuilder: no element index here");
  return wrap(element_index_, DType::i64);
}

}  // namespace tightloop::backends::cpu
