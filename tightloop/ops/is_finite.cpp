// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& is_finite_op() {
  static const ir::OpDef op{
      .name = "is_finite",
      .doc = "Whether x is neither infinite nor NaN.",
      .infer = float_test,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::isfinite(x); }); },
      .body =
          [](ScalarBuilder& b, Scalars in, const ir::Node&) {
            return b.compare(ir::Compare::lt, b.abs(in[0]), b.like(in[0], INFINITY));
          },
      .samples = [] { return float_samples(1); },
  };
  return op;
}

}  // namespace tightloop::ops
