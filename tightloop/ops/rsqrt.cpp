// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& rsqrt_op() {
  static const ir::OpDef op{
      .name = "rsqrt",
      .doc = "1 / sqrt(x). f32 within 1.5 ulp.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return 1 / std::sqrt(x); }); },
      .body = [](ScalarBuilder& b, Scalars in, const ir::Node&) { return b.like(in[0], 1) / b.sqrt(in[0]); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        return {guard(in(y) > 0, g, g * -0.5 * (y * y * y))};
      },
      .samples = [] { return float_samples(1, 0.2, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
