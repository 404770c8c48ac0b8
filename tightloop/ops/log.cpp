// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& log_op() {
  static const ir::OpDef op{
      .name = "log",
      .doc = "Natural logarithm.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::log(x); }); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {guard(in(y) > 0, g, g / in(y))}; },
      .precision = ir::Precision::high,
      .samples = [] { return float_samples(1, 0.2, 5); },
  };
  return op;
}

}  // namespace tightloop::ops
