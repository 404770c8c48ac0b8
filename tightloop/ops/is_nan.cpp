// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& is_nan_op() {
  static const ir::OpDef op{
      .name = "is_nan",
      .doc = "Whether x is NaN.",
      .infer = float_test,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::isnan(x); }); },
      .body = [](ScalarBuilder& b, Scalars in,
                 const ir::Node&) { return b.compare(ir::Compare::ne, in[0], in[0]); },
      .samples = [] { return float_samples(1); },
  };
  return op;
}

}  // namespace tightloop::ops
