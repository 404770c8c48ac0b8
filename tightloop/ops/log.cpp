// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

Scalar fast(Scalar x) {
  ScalarBuilder& b = *x.builder;
  const Scalar small = b.compare(ir::Compare::lt, x, b.like(x, 0x1p-126));
  const math::Split s = math::split(b.select(small, x * 0x1p23, x));
  const Scalar exponent =
      b.convert(s.exponent, DType::f32) - b.select(small, b.like(x, 127 + 23), b.like(x, 127));
  const Scalar y = b.select(b.compare(ir::Compare::eq, x, b.like(x, INFINITY)), x, math::log(s, exponent));
  const Scalar pole =
      b.select(b.compare(ir::Compare::eq, x, b.like(x, 0)), b.like(x, -INFINITY), b.like(x, NAN));
  return b.select(b.compare(ir::Compare::gt, x, b.like(x, 0)), y, pole);
}

}  // namespace

const ir::OpDef& log_op() {
  static const ir::OpDef op{
      .name = "log",
      .doc = "Natural logarithm. f32 within 0.9 ulp.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::log(x); }); },
      .body = [](ScalarBuilder& b, Scalars in,
                 const ir::Node&) { return math::by_type(b, in[0], "log", fast); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {guard(in(y) > 0, g, g / in(y))}; },
      .precision = ir::Precision::high,
      .samples = [] { return float_samples(1, 0.2, 5); },
  };
  return op;
}

}  // namespace tightloop::ops
