// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& neg_op() {
  static const ir::OpDef op{
      .name = "neg",
      .doc = "-x. Integers wrap.",
      .infer = same_number,
      .evaluate =
          [](const EvalArgs& a) {
            map(
                a, [](double x) { return -x; }, [](std::int64_t x) { return wrap_sub(0, x); });
          },
      .body = [](ScalarBuilder&, Scalars in, const ir::Node&) { return -in[0]; },
      .vjp = [](const Tensor&, const Tensor& g) -> Tensors { return {-g}; },
      .samples = [] { return number_samples(1); },
  };
  return op;
}

}  // namespace tightloop::ops
