// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& tanh_op() {
  static const ir::OpDef op{
      .name = "tanh",
      .doc = "Hyperbolic tangent.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::tanh(x); }); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * (1.0 - y * y)}; },
      .samples = [] { return float_samples(1, -3, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
