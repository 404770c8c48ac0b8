// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& logical_and_op() {
  static const ir::OpDef op{
      .name = "logical_and",
      .doc = "a and b, of bool.",
      .arity = 2,
      .infer = logical,
      .evaluate =
          [](const EvalArgs& a) {
            map(
                a, [](double x, double y) { return x != 0 && y != 0; },
                [](std::int64_t x, std::int64_t y) { return x != 0 && y != 0; });
          },
      .body = [](ScalarBuilder& b, Scalars in, const ir::Node&) { return b.bit_and(in[0], in[1]); },
      .samples = [] { return logical_samples(2); },
  };
  return op;
}

}  // namespace tightloop::ops
