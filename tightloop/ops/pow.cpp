// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

/// log2 of a positive normal f32, in f64.
Scalar wide_log2(Scalar a, Scalar bias) {
  const math::Split s = math::split(a);
  ScalarBuilder& b = *a.builder;
  const Scalar f = b.convert(s.fraction, DType::f64);
  const Scalar t = f / (f + 2);
  const Scalar p = math::polynomial(
      t * t, {2.88539008177792681472, 0.9617966939248278, 0.5770780171106071, 0.4121984178884749,
              0.32061549278845475, 0.26146850390538723, 0.24266354363242182});
  return b.fma(t, p, b.convert(s.exponent, DType::f64) - b.convert(bias, DType::f64));
}

/// 2^y of an f64 in [-160, 160], as f32.
Scalar narrow_exp2(Scalar y) {
  ScalarBuilder& b = *y.builder;
  const Scalar n = b.round(y);
  const Scalar p = math::polynomial(
      y - n, {1, 0.6931471805416232, 0.24022651076304352, 0.05550410962696924, 0.009618036837618225,
              0.0013333430675975314, 0.0001546713565348608, 1.5314973968286047e-05});
  const Scalar field = b.convert(n, DType::i64) + b.constant_int(DType::i64, 1023);
  return b.convert(p * b.bitcast(b.shift_left(field, 52), DType::f64), DType::f32);
}

Scalar fast(Scalar a, Scalar e) {
  ScalarBuilder& b = *a.builder;
  const Scalar zero = b.like(a, 0), one = b.like(a, 1), infinity = b.like(a, INFINITY);
  const auto is = [&](Scalar x, Scalar y) { return b.compare(ir::Compare::eq, x, y); };
  const Scalar size = b.abs(a);
  const Scalar small = b.compare(ir::Compare::lt, size, b.like(a, 0x1p-126));
  const Scalar bias = b.select(small, b.constant_int(DType::i32, 127 + 23), b.constant_int(DType::i32, 127));
  Scalar log2 = wide_log2(b.select(small, size * 0x1p23, size), bias);
  log2 = b.select(is(size, zero), b.like(log2, -INFINITY),
                  b.select(is(size, infinity), b.like(log2, INFINITY), log2));
  const Scalar wide = b.convert(e, DType::f64);
  const Scalar power = narrow_exp2(math::at_most(math::at_least(wide * log2, -160), 160));

  const Scalar whole = is(b.floor(e), e);
  const Scalar half = e * 0.5;
  const Scalar odd = b.bit_and(whole, b.compare(ir::Compare::ne, b.floor(half), half));
  const Scalar negative = b.compare(ir::Compare::lt, b.bitcast(a, DType::i32), b.constant_int(DType::i32, 0));
  const Scalar finite_negative =
      b.bit_and(b.compare(ir::Compare::lt, a, zero), b.compare(ir::Compare::gt, a, -infinity));
  Scalar y = b.select(b.bit_and(negative, odd), -power, power);
  y = b.select(b.bit_and(finite_negative, is(whole, b.constant_int(DType::boolean, 0))), b.like(a, NAN), y);
  y = b.select(b.bit_and(is(size, one), is(b.abs(e), infinity)), one, y);
  y = b.select(b.compare(ir::Compare::ne, size, size), size, y);
  return b.select(b.bit_or(is(e, zero), is(a, one)), one, y);
}

}  // namespace

const ir::OpDef& pow_op() {
  static const ir::OpDef op{
      .name = "pow",
      .doc =
          "a to the power b, as the C library's pow; f32 within 0.6 ulp. The gradient by b is 0 where a is 0 "
          "and b is not "
          "negative.",
      .arity = 2,
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x, double y) { return std::pow(x, y); }); },
      .body =
          [](ScalarBuilder& b, Scalars in, const ir::Node&) {
            return in[0].dtype == DType::f64 ? b.libm("pow", {in[0], in[1]}) : fast(in[0], in[1]);
          },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        const Tensor &a = in(y, 0), &b = in(y, 1);
        const Tensor zero = full(g.shape(), 0, g.dtype());
        const Tensor flat = logical_and(equal(a, zero), greater_equal(b, zero));
        return {select(equal(b, zero), zero, guard(a > 0, g, g * b * pow(a, b - 1.0))),
                select(flat, zero, g * y * log(a))};
      },
      .samples = [] { return float_samples(2, 0.3, 2.5); },
  };
  return op;
}

}  // namespace tightloop::ops
