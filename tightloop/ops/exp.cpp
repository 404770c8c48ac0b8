// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {

const ir::OpDef& exp_op() {
  static const ir::OpDef op{
      .name = "exp",
      .doc = "e to the x. f32 within 1.0 ulp.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::exp(x); }); },
      .body =
          [](ScalarBuilder& b, Scalars in, const ir::Node&) {
            return math::by_type(b, in[0], "exp", [](Scalar x) { return math::exp(x); });
          },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * y}; },
      .precision = ir::Precision::high,
      .samples = [] { return float_samples(1, -5, 5); },
  };
  return op;
}

}  // namespace tightloop::ops
