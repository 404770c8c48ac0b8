// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& sinh_op() {
  static const ir::OpDef op{
      .name = "sinh",
      .doc = "Hyperbolic sine.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::sinh(x); }); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * cosh(in(y))}; },
      .samples = [] { return float_samples(1, -3, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
