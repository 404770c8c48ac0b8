// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& cos_op() {
  static const ir::OpDef op{
      .name = "cos",
      .doc = "Cosine of an angle in radians.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::cos(x); }); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {-(g * sin(in(y)))}; },
      .samples = [] { return float_samples(1, -5, 5); },
  };
  return op;
}

}  // namespace tightloop::ops
