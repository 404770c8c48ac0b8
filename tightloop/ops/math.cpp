// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/math.h>

#include <limits>

namespace tightloop::ops::math {
namespace {

constexpr double kLn2 = 0.693147182464599609375;  // rounded to f32
constexpr double kLn2Rest = -1.90465429995776804525e-9;

Scalar integer(Scalar like, std::int64_t value) { return like.builder->constant_int(like.dtype, value); }

/// 2^(field - 127), from the low nine bits of an i32.
Scalar power_of_two(Scalar field) {
  return field.builder->bitcast(field.builder->shift_left(field, 23), DType::f32);
}

Scalar sin_of_rest(Scalar r) {
  const Scalar z = r * r;
  const Scalar p = polynomial(z, {-0.16666655242443085, 0.008332191035151482, -0.00019518614863045514});
  return r.builder->fma(r * z, p, r);
}

/// x where it is a zero of either sign.
Scalar keep_zero(Scalar x, Scalar y) {
  return x.builder->select(x.builder->compare(ir::Compare::eq, x, x.builder->like(x, 0)), x, y);
}

Scalar cos_of_rest(Scalar r) {
  ScalarBuilder& b = *r.builder;
  const Scalar z = r * r;
  const Scalar p = polynomial(z, {0.04166664555668831, -0.00138873013202101, 2.443066841806285e-05});
  return b.fma(z, b.fma(z, p, b.like(z, -0.5)), b.like(z, 1));
}

/// `odd` where the quarter is odd, else `even`; negated where `quarter + shift` has bit 1.
Scalar by_quarter(Angle a, Scalar odd, Scalar even, int shift) {
  ScalarBuilder& b = *odd.builder;
  const Scalar is_odd =
      b.compare(ir::Compare::ne, b.bit_and(a.quarter, integer(a.quarter, 1)), integer(a.quarter, 0));
  const Scalar bit = b.bit_and(a.quarter + integer(a.quarter, shift), integer(a.quarter, 2));
  const Scalar value = b.bitcast(b.select(is_odd, odd, even), DType::i32);
  return b.bitcast(b.bit_xor(value, b.shift_left(bit, 30)), DType::f32);
}

}  // namespace

Scalar polynomial(Scalar x, std::initializer_list<double> c) {
  ScalarBuilder& b = *x.builder;
  Scalar y = b.like(x, *(c.end() - 1));
  for (std::size_t i = c.size() - 1; i-- > 0;) y = b.fma(y, x, b.like(x, c.begin()[i]));
  return y;
}

Scalar at_least(Scalar x, double low) {
  ScalarBuilder& b = *x.builder;
  return b.select(b.compare(ir::Compare::gt, b.like(x, low), x), b.like(x, low), x);
}

Scalar at_most(Scalar x, double high) {
  ScalarBuilder& b = *x.builder;
  return b.select(b.compare(ir::Compare::lt, b.like(x, high), x), b.like(x, high), x);
}

Scalar quotient(Scalar n, Scalar d) {
  ScalarBuilder& b = *n.builder;
  const Scalar bits = b.bitcast(d, DType::i32);
  const Scalar guess = b.bitcast(integer(bits, 0x7ef311c3) - bits, DType::f32);
  const Scalar error = b.fma(-d, guess, b.like(d, 1));
  const Scalar inverse = b.fma(guess, b.fma(error, error, error), guess);
  const Scalar near = n * inverse;
  const Scalar excess = b.fma(d, near, -n);  // this way round a zero keeps its sign
  return b.fma(-excess, inverse, near);
}

Scalar exp(Scalar x, int halvings) {
  ScalarBuilder& b = *x.builder;
  constexpr double log2e = 1.44269504088896340736;
  constexpr double magic = 12582912 + 256;  // 1.5 · 2^23: the sum's low bits are the rounded integer, + 256
  x = at_most(at_least(x, -104), 89 + halvings);
  const Scalar sum = b.fma(x, b.like(x, log2e), b.like(x, magic));
  const Scalar n = sum - magic;
  const Scalar r = b.fma(n, b.like(n, -kLn2Rest), b.fma(n, b.like(n, -kLn2), x));
  const Scalar q = polynomial(
      r, {0.5, 0.1666651964187622, 0.041666384786367416, 0.008368848823010921, 0.0013942214427515864});
  const Scalar power = b.fma(r * r, q, r) + 1;
  const Scalar bits = b.bitcast(sum, DType::i32);
  const Scalar half = b.shift_right(bits, 1);
  const Scalar other = bits - half - integer(bits, 2 + halvings);
  return power * power_of_two(half) * power_of_two(other);
}

Split split(Scalar x) {
  ScalarBuilder& b = *x.builder;
  const Scalar bits = b.bitcast(x, DType::i32);
  const Scalar shifted = bits + integer(bits, 0x3f800000 - 0x3f3504f3);  // m in [√½, √2)
  const Scalar mantissa = b.bit_and(shifted, integer(bits, 0x7fffff)) + integer(bits, 0x3f3504f3);
  return {b.bitcast(mantissa, DType::f32) - 1, b.shift_right(shifted, 23)};
}

Scalar log(Split x, Scalar exponent) {
  const Scalar f = x.fraction;
  ScalarBuilder& b = *f.builder;
  const Scalar p =
      polynomial(f, {0.33333316445350647, -0.25000810623168945, 0.20002301037311554, -0.16624552011489868,
                     0.14180947840213776, -0.13128606975078583, 0.12882980704307556, -0.07861343026161194});
  const Scalar z = f * f;
  const Scalar tail = b.fma(z, b.like(z, -0.5), f * z * p);
  return b.fma(exponent, b.like(f, kLn2), b.fma(exponent, b.like(f, kLn2Rest), f + tail));
}

Angle reduce_angle(Scalar x) {
  ScalarBuilder& b = *x.builder;
  constexpr double two_over_pi = 0.63661977236758134308;
  constexpr double quarter = 1.57079632679489655800;
  constexpr double quarter_rest = 6.12323399573676603587e-17;
  constexpr double magic = 6755399441055744;  // 1.5 · 2^52
  const Scalar known = b.compare(ir::Compare::lt, b.abs(x), b.like(x, 0x1p48));
  const Scalar wide =
      b.convert(b.select(known, x, b.like(x, std::numeric_limits<double>::quiet_NaN())), DType::f64);
  const Scalar sum = b.fma(wide, b.like(wide, two_over_pi), b.like(wide, magic));
  const Scalar n = sum - magic;
  const Scalar rest = b.fma(n, b.like(n, -quarter_rest), b.fma(n, b.like(n, -quarter), wide));
  return {b.convert(rest, DType::f32), b.convert(b.bitcast(sum, DType::i64), DType::i32)};
}

Scalar sin(Scalar x) {
  const Angle a = reduce_angle(x);
  return keep_zero(x, by_quarter(a, cos_of_rest(a.rest), sin_of_rest(a.rest), 0));
}

Scalar cos(Angle a) { return by_quarter(a, sin_of_rest(a.rest), cos_of_rest(a.rest), 1); }

Scalar tan(Scalar x) {
  const Angle a = reduce_angle(x);
  ScalarBuilder& b = *x.builder;
  const Scalar s = sin_of_rest(a.rest), c = cos_of_rest(a.rest);
  const Scalar odd =
      b.compare(ir::Compare::ne, b.bit_and(a.quarter, integer(a.quarter, 1)), integer(a.quarter, 0));
  return keep_zero(x, b.select(odd, -c, s) / b.select(odd, s, c));
}

Scalar atan(Scalar t) {
  const Scalar z = t * t;
  const Scalar p = polynomial(z, {-0.33333301544189453, 0.1999862790107727, -0.1426512598991394,
                                  0.10956934839487076, -0.08417554199695587, 0.05820158123970032,
                                  -0.03142260015010834, 0.011046571657061577, -0.0018232016591355205});
  return t.builder->fma(t * z, p, t);
}

}  // namespace tightloop::ops::math
