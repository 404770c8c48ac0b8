// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/dtype.h>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tightloop::ir {

class ScalarBuilder;

/// One element of a loop nest being emitted (in practice a whole vector of them): an opaque value of
/// a backend's code, with its dtype (f32, f64, i32, i64, u8 or bool).
struct Scalar {
  void* handle = nullptr;
  DType dtype = DType::f32;
  ScalarBuilder* builder = nullptr;
};

enum class Compare : std::uint8_t { eq, ne, lt, le, gt, ge };

/// The instructions that an op's body is written in. A backend implements them.
/// Both operands have the same dtype. Integer arithmetic wraps. Comparisons are false on NaN but for `ne`.
class ScalarBuilder {
 public:
  virtual ~ScalarBuilder() = default;
  virtual Scalar constant(DType dtype, double value) = 0;
  virtual Scalar constant_int(DType dtype, std::int64_t value) = 0;
  virtual Scalar add(Scalar a, Scalar b) = 0;
  virtual Scalar sub(Scalar a, Scalar b) = 0;
  virtual Scalar mul(Scalar a, Scalar b) = 0;
  /// Floats: IEEE. Integers: truncates; the result of division by zero is 0.
  virtual Scalar div(Scalar a, Scalar b) = 0;
  virtual Scalar rem(Scalar a, Scalar b) = 0;            ///< C's % and fmod; integers: 0 for a zero divisor
  virtual Scalar fma(Scalar a, Scalar b, Scalar c) = 0;  ///< a·b + c, rounded once where the CPU can
  virtual Scalar sqrt(Scalar a) = 0;
  /// 1/a and 1/√a of f32, within a relative 2^-11 at least: seeds for Newton steps. Zero and infinity give
  /// each other.
  virtual Scalar reciprocal_estimate(Scalar a) { return div(like(a, 1), a); }
  virtual Scalar rsqrt_estimate(Scalar a) { return div(like(a, 1), sqrt(a)); }
  /// Whether Newton steps from those are faster than dividing and taking roots, for values such as `a`.
  virtual bool estimates_pay(Scalar) const { return false; }
  virtual Scalar abs(Scalar a) = 0;
  virtual Scalar neg(Scalar a) = 0;
  virtual Scalar floor(Scalar a) = 0;
  virtual Scalar ceil(Scalar a) = 0;
  virtual Scalar trunc(Scalar a) = 0;
  virtual Scalar round(Scalar a) = 0;  ///< ties to even
  virtual Scalar copysign(Scalar magnitude, Scalar sign) = 0;
  /// The smaller / larger; NaN if either is NaN (floats and integers).
  virtual Scalar min(Scalar a, Scalar b) = 0;
  virtual Scalar max(Scalar a, Scalar b) = 0;
  virtual Scalar compare(Compare c, Scalar a, Scalar b) = 0;  ///< bool
  virtual Scalar select(Scalar condition, Scalar a, Scalar b) = 0;
  virtual Scalar bit_and(Scalar a, Scalar b) = 0;  ///< bool and integers
  virtual Scalar bit_or(Scalar a, Scalar b) = 0;
  virtual Scalar bit_xor(Scalar a, Scalar b) = 0;
  virtual Scalar shift_left(Scalar a, int bits) = 0;
  virtual Scalar shift_right(Scalar a, int bits) = 0;  ///< logical
  /// Numeric conversion, as Array::cast.
  virtual Scalar convert(Scalar a, DType to) = 0;
  /// i32 → i64 filling with zero bits.
  virtual Scalar widen_unsigned(Scalar a) = 0;
  /// Same bits: f32 ↔ i32, f64 ↔ i64.
  virtual Scalar bitcast(Scalar a, DType to) = 0;
  /// A function of the C mathematics library by its f64 name ("exp", "pow", …), lane by lane.
  virtual Scalar libm(std::string_view function, std::initializer_list<Scalar> args) = 0;
  /// Row-major index (i64) of the element being computed in the node's own shape; random ops only.
  virtual Scalar element_index() = 0;

  Scalar like(Scalar a, double value) { return constant(a.dtype, value); }
};

inline Scalar operator+(Scalar a, Scalar b) { return a.builder->add(a, b); }
inline Scalar operator-(Scalar a, Scalar b) { return a.builder->sub(a, b); }
inline Scalar operator*(Scalar a, Scalar b) { return a.builder->mul(a, b); }
inline Scalar operator/(Scalar a, Scalar b) { return a.builder->div(a, b); }
inline Scalar operator-(Scalar a) { return a.builder->neg(a); }
inline Scalar operator+(Scalar a, double b) { return a + a.builder->like(a, b); }
inline Scalar operator-(Scalar a, double b) { return a - a.builder->like(a, b); }
inline Scalar operator*(Scalar a, double b) { return a * a.builder->like(a, b); }
inline Scalar operator/(Scalar a, double b) { return a / a.builder->like(a, b); }

}  // namespace tightloop::ir
