// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& trunc_op() {
  static const ir::OpDef op{
      .name = "trunc",
      .doc = "x without its fraction.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::trunc(x); }); },
      .body = [](ScalarBuilder& b, Scalars in, const ir::Node&) { return b.trunc(in[0]); },
      .samples = [] { return float_samples(1, -9, 9); },
  };
  return op;
}

}  // namespace tightloop::ops
