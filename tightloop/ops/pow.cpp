// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& pow_op() {
  static const ir::OpDef op{
      .name = "pow",
      .doc =
          "a to the power b, as the C library's pow. The gradient by b is 0 where a is 0 and b is not "
          "negative.",
      .arity = 2,
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x, double y) { return std::pow(x, y); }); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        const Tensor &a = in(y, 0), &b = in(y, 1);
        const Tensor zero = full(g.shape(), 0, g.dtype());
        const Tensor flat = logical_and(equal(a, zero), greater_equal(b, zero));
        return {select(equal(b, zero), zero, guard(a > 0, g, g * b * pow(a, b - 1.0))),
                select(flat, zero, g * y * log(a))};
      },
      .samples = [] { return float_samples(2, 0.3, 2.5); },
  };
  return op;
}

}  // namespace tightloop::ops
