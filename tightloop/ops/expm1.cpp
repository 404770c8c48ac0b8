// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& expm1_op() {
  static const ir::OpDef op{
      .name = "expm1",
      .doc = "exp(x) - 1, exact near 0.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::expm1(x); }); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * (y + 1.0)}; },
      .precision = ir::Precision::high,
      .samples = [] { return float_samples(1, -3, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
