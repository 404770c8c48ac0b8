// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

Scalar fast(Scalar x) {
  ScalarBuilder& b = *x.builder;
  constexpr double half_pi = 1.57079637050628662109, half_pi_rest = -4.37113900018624283e-8;
  const Scalar size = b.abs(x);
  const Scalar far = b.compare(ir::Compare::gt, size, b.like(x, 1));
  const Scalar near = math::atan(b.select(far, b.like(x, -1) / size, size));
  return b.copysign(b.select(far, near + half_pi_rest + half_pi, near), x);
}

}  // namespace

const ir::OpDef& atan_op() {
  static const ir::OpDef op{
      .name = "atan",
      .doc = "Inverse tangent. f32 within 1.2 ulp.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::atan(x); }); },
      .body = [](ScalarBuilder& b, Scalars in,
                 const ir::Node&) { return math::by_type(b, in[0], "atan", fast); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g / (in(y)*in(y) + 1.0)}; },
      .samples = [] { return float_samples(1, -4, 4); },
  };
  return op;
}

}  // namespace tightloop::ops
