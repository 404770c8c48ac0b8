// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& div_op() {
  static const ir::OpDef op{
      .name = "div",
      .doc = "a / b of floats; integer division is floor_div.",
      .arity = 2,
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x, double y) { return x / y; }); },
      .body = [](ScalarBuilder&, Scalars in, const ir::Node&) { return in[0] / in[1]; },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        const Tensor by_a = g / in(y, 1);
        return {by_a, -(by_a * y)};
      },
      .samples = [] { return float_samples(2, 0.5, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
