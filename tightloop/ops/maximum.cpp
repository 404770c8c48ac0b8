// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& maximum_op() {
  static const ir::OpDef op{
      .name = "maximum",
      .doc = "The larger of a and b; NaN if either is. Equal operands share the gradient.",
      .arity = 2,
      .infer = same_number,
      .evaluate =
          [](const EvalArgs& a) {
            map(
                a, [](double x, double y) { return std::isnan(x) || x > y ? x : y; },
                [](std::int64_t x, std::int64_t y) { return x > y ? x : y; });
          },
      .body = [](ScalarBuilder& b, Scalars in, const ir::Node&) { return b.max(in[0], in[1]); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        const Tensor &a = in(y, 0), &b = in(y, 1);
        const Tensor zero = full(g.shape(), 0, g.dtype());
        const Tensor tied = select(equal(a, b), g * 0.5, zero);
        return {select(greater(a, b), g, tied), select(greater(b, a), g, tied)};
      },
      .samples = [] { return number_samples(2); },
  };
  return op;
}

}  // namespace tightloop::ops
