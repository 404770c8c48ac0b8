// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& sigmoid_op() {
  static const ir::OpDef op{
      .name = "sigmoid",
      .doc = "1 / (1 + exp(-x)).",
      .infer = same_float,
      .evaluate =
          [](const EvalArgs& a) {
            map(a, [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); });
          },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * (y * (1.0 - y))}; },
      .samples = [] { return float_samples(1, -6, 6); },
  };
  return op;
}

}  // namespace tightloop::ops
