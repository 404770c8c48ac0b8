// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& sqrt_op() {
  static const ir::OpDef op{
      .name = "sqrt",
      .doc = "Square root.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::sqrt(x); }); },
      .body = [](ScalarBuilder& b, Scalars in, const ir::Node&) { return b.sqrt(in[0]); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {guard(greater(y, full(y.shape(), 0, y.dtype())), g, g * 0.5 / y)};
      },
      .samples = [] { return float_samples(1, 0.2, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
