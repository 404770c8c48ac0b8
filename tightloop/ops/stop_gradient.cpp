// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& stop_gradient_op() {
  static const ir::OpDef op{
      .name = "stop_gradient",
      .doc = "x, with no gradient.",
      .infer = [](const InferArgs& a) { return a.inputs[0].type(); },
      .evaluate =
          [](const EvalArgs& a) {
            for (std::int64_t i = 0; i < a.out.count(); ++i) copy_element(a.out, i, *a.inputs[0], i);
          },
      .body = [](ScalarBuilder&, Scalars in, const ir::Node&) { return in[0]; },
      .samples = [] { return number_samples(1); },
  };
  return op;
}

}  // namespace tightloop::ops
