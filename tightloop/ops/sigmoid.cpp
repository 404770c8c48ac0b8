// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

Scalar stable(ScalarBuilder& b, Scalars in, const ir::Node&) {
  const Scalar x = in[0], one = b.like(x, 1);
  const Scalar positive = b.compare(ir::Compare::ge, x, b.like(x, 0));
  if (x.dtype == DType::f64) {
    const Scalar e = b.libm("exp", {-b.abs(x)});
    return b.select(positive, one, e) / (e + one);
  }
  const Scalar e = math::exp(-b.abs(x));
  return math::quotient(b.select(positive, one, e), e + one);
}

}  // namespace

const ir::OpDef& sigmoid_op() {
  static const ir::OpDef op{
      .name = "sigmoid",
      .doc = "1 / (1 + exp(-x)). f32 within 2.3 ulp.",
      .infer = same_float,
      .evaluate =
          [](const EvalArgs& a) {
            map(a, [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); });
          },
      .body = stable,
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * (y * (1.0 - y))}; },
      .samples = [] { return float_samples(1, -6, 6); },
  };
  return op;
}

}  // namespace tightloop::ops
