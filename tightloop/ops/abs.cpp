// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& abs_op() {
  static const ir::OpDef op{
      .name = "abs",
      .doc = "|x|. The gradient at 0 is 0.",
      .infer = same_number,
      .evaluate =
          [](const EvalArgs& a) {
            map(
                a, [](double x) { return std::fabs(x); },
                [](std::int64_t x) { return x < 0 ? wrap_sub(0, x) : x; });
          },
      .body = [](ScalarBuilder& b, Scalars in, const ir::Node&) { return b.abs(in[0]); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * sign(in(y))}; },
      .samples = [] { return number_samples(1); },
  };
  return op;
}

}  // namespace tightloop::ops
