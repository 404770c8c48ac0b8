// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {

const ir::OpDef& tan_op() {
  static const ir::OpDef op{
      .name = "tan",
      .doc = "Tangent of an angle in radians. f32 within 3 ulp up to 2^48, NaN beyond.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::tan(x); }); },
      .body =
          [](ScalarBuilder& b, Scalars in, const ir::Node&) {
            return math::by_type(b, in[0], "tan", [](Scalar x) { return math::tan(x); });
          },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * (y * y + 1.0)}; },
      .samples = [] { return float_samples(1, -1.2, 1.2); },
  };
  return op;
}

}  // namespace tightloop::ops
