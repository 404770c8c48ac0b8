// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& sub_op() {
  static const ir::OpDef op{
      .name = "sub",
      .doc = "a - b. Integers wrap.",
      .arity = 2,
      .infer = same_number,
      .evaluate =
          [](const EvalArgs& a) {
            map(
                a, [](double x, double y) { return x - y; }, wrap_sub);
          },
      .body = [](ScalarBuilder&, Scalars in, const ir::Node&) { return in[0] - in[1]; },
      .vjp = [](const Tensor&, const Tensor& g) -> Tensors {
        return {g, -g};
      },
      .samples = [] { return number_samples(2); },
  };
  return op;
}

}  // namespace tightloop::ops
