// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

Scalar fast(Scalar x) {
  ScalarBuilder& b = *x.builder;
  const Scalar z = x * x;
  const Scalar near = b.fma(x * z,
                            math::polynomial(z, {0.1666666716337204, 0.008333311416208744,
                                                 0.00019842635083477944, 2.7839253107231343e-06}),
                            x);
  const Scalar half = math::exp(b.abs(x), 1);
  const Scalar far = b.copysign(half - b.like(x, 0.25) / half, x);
  return b.select(b.compare(ir::Compare::lt, b.abs(x), b.like(x, 1)), near, far);
}

}  // namespace

const ir::OpDef& sinh_op() {
  static const ir::OpDef op{
      .name = "sinh",
      .doc = "Hyperbolic sine. f32 within 1.6 ulp.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::sinh(x); }); },
      .body = [](ScalarBuilder& b, Scalars in,
                 const ir::Node&) { return math::by_type(b, in[0], "sinh", fast); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * cosh(in(y))}; },
      .samples = [] { return float_samples(1, -3, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
