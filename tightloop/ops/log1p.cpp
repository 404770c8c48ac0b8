// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

/// log of u = 1 + x, with what rounding lost of x given back to the fraction.
Scalar fast(Scalar x) {
  ScalarBuilder& b = *x.builder;
  const Scalar one = b.like(x, 1);
  const Scalar u = x + one;
  const Scalar back = u - one;
  const Scalar lost = (one - (u - back)) + (x - back);
  math::Split s = math::split(u);
  const Scalar exponent = b.convert(s.exponent, DType::f32) - 127;
  const Scalar field = b.constant_int(DType::i32, 254) - b.min(s.exponent, b.constant_int(DType::i32, 253));
  s.fraction = b.fma(lost, b.bitcast(b.shift_left(field, 23), DType::f32), s.fraction);
  const Scalar keep = b.bit_or(b.compare(ir::Compare::eq, x, b.like(x, INFINITY)),
                               b.compare(ir::Compare::eq, x, b.like(x, 0)));
  const Scalar y = b.select(keep, x, math::log(s, exponent));
  const Scalar pole =
      b.select(b.compare(ir::Compare::eq, u, b.like(x, 0)), b.like(x, -INFINITY), b.like(x, NAN));
  return b.select(b.compare(ir::Compare::gt, u, b.like(x, 0)), y, pole);
}

}  // namespace

const ir::OpDef& log1p_op() {
  static const ir::OpDef op{
      .name = "log1p",
      .doc = "log(1 + x), exact near 0. f32 within 1.5 ulp.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::log1p(x); }); },
      .body = [](ScalarBuilder& b, Scalars in,
                 const ir::Node&) { return math::by_type(b, in[0], "log1p", fast); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {guard(in(y) > -1, g, g / (in(y) + 1.0))};
      },
      .precision = ir::Precision::high,
      .samples = [] { return float_samples(1, -0.7, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
