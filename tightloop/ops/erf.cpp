// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {

const ir::OpDef& erf_op() {
  static const ir::OpDef op{
      .name = "erf",
      .doc = "Error function, 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::erf(x); }); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        constexpr double two_over_sqrt_pi = 1.12837916709551257390;
        return {g * (exp(-(in(y)*in(y))) * two_over_sqrt_pi)};
      },
      .samples = [] { return float_samples(1, -2.5, 2.5); },
  };
  return op;
}

}  // namespace tightloop::ops
