// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& round_op() {
  static const ir::OpDef op{
      .name = "round",
      .doc = "The nearest whole number, ties to even.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::nearbyint(x); }); },
      .body = [](ScalarBuilder& b, Scalars in, const ir::Node&) { return b.round(in[0]); },
      .samples = [] { return float_samples(1, -9, 9); },
  };
  return op;
}

}  // namespace tightloop::ops
