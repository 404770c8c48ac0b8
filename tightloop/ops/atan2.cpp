// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& atan2_op() {
  static const ir::OpDef op{
      .name = "atan2",
      .doc = "The angle of the point (x, y) = (b, a), in (-pi, pi].",
      .arity = 2,
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x, double y) { return std::atan2(x, y); }); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        const Tensor &a = in(y, 0), &b = in(y, 1);
        const Tensor scaled = g / (a * a + b * b);
        return {scaled * b, -(scaled * a)};
      },
      .samples = [] { return float_samples(2, 0.3, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
