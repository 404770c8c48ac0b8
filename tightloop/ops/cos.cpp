// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {

const ir::OpDef& cos_op() {
  static const ir::OpDef op{
      .name = "cos",
      .doc = "Cosine of an angle in radians. f32 within 1.6 ulp up to 2^48, NaN beyond.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::cos(x); }); },
      .body =
          [](ScalarBuilder& b, Scalars in, const ir::Node&) {
            return math::by_type(b, in[0], "cos", [](Scalar x) { return math::cos(math::reduce_angle(x)); });
          },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {-(g * sin(in(y)))}; },
      .samples = [] { return float_samples(1, -5, 5); },
  };
  return op;
}

}  // namespace tightloop::ops
