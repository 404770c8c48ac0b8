// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& mul_op() {
  static const ir::OpDef op{
      .name = "mul",
      .doc = "a * b. Integers wrap.",
      .arity = 2,
      .infer = same_number,
      .evaluate =
          [](const EvalArgs& a) {
            map(
                a, [](double x, double y) { return x * y; }, wrap_mul);
          },
      .body = [](ScalarBuilder&, Scalars in, const ir::Node&) { return in[0] * in[1]; },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {g * in(y, 1), g * in(y, 0)};
      },
      .samples = [] { return number_samples(2); },
  };
  return op;
}

}  // namespace tightloop::ops
