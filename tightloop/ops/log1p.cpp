// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& log1p_op() {
  static const ir::OpDef op{
      .name = "log1p",
      .doc = "log(1 + x), exact near 0.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::log1p(x); }); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {guard(in(y) > -1, g, g / (in(y) + 1.0))};
      },
      .precision = ir::Precision::high,
      .samples = [] { return float_samples(1, -0.7, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
