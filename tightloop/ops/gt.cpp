// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& gt_op() {
  static const ir::OpDef op{
      .name = "gt",
      .doc = "a > b; false when either is NaN.",
      .arity = 2,
      .infer = comparison,
      .evaluate =
          [](const EvalArgs& a) {
            map(
                a, [](double x, double y) { return x > y; },
                [](std::int64_t x, std::int64_t y) { return x > y; });
          },
      .body = [](ScalarBuilder& b, Scalars in,
                 const ir::Node&) { return b.compare(ir::Compare::gt, in[0], in[1]); },
      .samples = [] { return number_samples(2, 0, 2); },
  };
  return op;
}

}  // namespace tightloop::ops
