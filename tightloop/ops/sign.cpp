// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& sign_op() {
  static const ir::OpDef op{
      .name = "sign",
      .doc = "-1, 0 or 1. NaN gives 0, as PyTorch.",
      .infer = same_number,
      .evaluate =
          [](const EvalArgs& a) {
            map(
                a, [](double x) { return (x > 0) - (x < 0); },
                [](std::int64_t x) { return (x > 0) - (x < 0); });
          },
      .body =
          [](ScalarBuilder& b, Scalars in, const ir::Node&) {
            const Scalar zero = b.like(in[0], 0);
            const Scalar negative =
                b.select(b.compare(ir::Compare::lt, in[0], zero), b.like(in[0], -1), zero);
            return b.select(b.compare(ir::Compare::gt, in[0], zero), b.like(in[0], 1), negative);
          },
      .samples = [] { return number_samples(1); },
  };
  return op;
}

}  // namespace tightloop::ops
