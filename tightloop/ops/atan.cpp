// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& atan_op() {
  static const ir::OpDef op{
      .name = "atan",
      .doc = "Inverse tangent.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::atan(x); }); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g / (in(y)*in(y) + 1.0)}; },
      .samples = [] { return float_samples(1, -4, 4); },
  };
  return op;
}

}  // namespace tightloop::ops
