// SPDX-License-Identifier: Apache-2.0
#pragma once
// Elementary functions of f32 in terms of a scalar builder: branch-free, with fused multiply-adds and no
// tables, right for NaN, infinities, signed zeros and subnormals. Polynomials are minimax fits (Remez) made
// for this file's ranges. Measured errors stand in each op's document, in units of the last place (ulp) over
// all f32 values.
#include <tightloop/ops/rules.h>

#include <initializer_list>

namespace tightloop::ops::math {

/// c[0] + c[1] x + c[2] x² + …
Scalar polynomial(Scalar x, std::initializer_list<double> c);
/// x no lower than low and no higher than high; NaN stays.
Scalar at_least(Scalar x, double low);
Scalar at_most(Scalar x, double high);
/// numerator / denominator within 1 ulp, several times faster than a division; the denominator must be in
/// [2^-60, 2^60].
Scalar quotient(Scalar numerator, Scalar denominator);
/// e^x / 2^halvings
Scalar exp(Scalar x, int halvings = 0);
/// log(m · 2^e) for a number split as split() does.
struct Split {
  Scalar fraction;  ///< m - 1, m in [√½, √2)
  Scalar exponent;  ///< i32, e + 127
};
Split split(Scalar positive_normal);
Scalar log(Split x, Scalar exponent);

/// The angle to the nearest multiple of a quarter turn, and that multiple (i32, modulo 4 matters). NaN from
/// 2^48 on, where neighbouring f32 values are millions of turns apart.
struct Angle {
  Scalar rest;
  Scalar quarter;
};
Angle reduce_angle(Scalar x);
Scalar sin(Scalar x);
Scalar cos(Angle a);
Scalar tan(Scalar x);
/// atan of t in [-1, 1]
Scalar atan(Scalar t);

/// f64 by the C library's function of this name, f32 by `f`.
template <class F>
Scalar by_type(ScalarBuilder& b, Scalar x, std::string_view libm, F f) {
  return x.dtype == DType::f64 ? b.libm(libm, {x}) : f(x);
}

}  // namespace tightloop::ops::math
