// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& logical_not_op() {
  static const ir::OpDef op{
      .name = "logical_not",
      .doc = "not x, of bool.",
      .infer = logical,
      .evaluate =
          [](const EvalArgs& a) {
            map(
                a, [](double x) { return x == 0; }, [](std::int64_t x) { return x == 0; });
          },
      .body = [](ScalarBuilder& b, Scalars in,
                 const ir::Node&) { return b.bit_xor(in[0], b.constant_int(DType::boolean, 1)); },
      .samples = [] { return logical_samples(1); },
  };
  return op;
}

}  // namespace tightloop::ops
