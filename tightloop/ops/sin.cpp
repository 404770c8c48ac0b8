// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {

const ir::OpDef& sin_op() {
  static const ir::OpDef op{
      .name = "sin",
      .doc = "Sine of an angle in radians. f32 within 1.6 ulp up to 2^48, NaN beyond.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::sin(x); }); },
      .body =
          [](ScalarBuilder& b, Scalars in, const ir::Node&) {
            return math::by_type(b, in[0], "sin", [](Scalar x) { return math::sin(x); });
          },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * cos(in(y))}; },
      .samples = [] { return float_samples(1, -5, 5); },
  };
  return op;
}

}  // namespace tightloop::ops
