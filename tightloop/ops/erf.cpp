// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

Scalar fast(Scalar x) {
  return math::saturating(x, 3.93,
                          {0.1690777689218521, 0.0467841774225235, 0.003349592676386237,
                           0.0002524052688386291, 1.8096518488164293e-06},
                          {0.8862269520759583, 0.4452497065067291, 0.10125809907913208, 0.013291135430335999,
                           0.001032643485814333, 3.368026955286041e-05});
}

}  // namespace

const ir::OpDef& erf_op() {
  static const ir::OpDef op{
      .name = "erf",
      .doc = "Error function, 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::erf(x); }); },
      .body = [](ScalarBuilder& b, Scalars in,
                 const ir::Node&) { return math::by_type(b, in[0], "erf", fast); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors {
        constexpr double two_over_sqrt_pi = 1.12837916709551257390;
        return {g * (exp(-(in(y)*in(y))) * two_over_sqrt_pi)};
      },
      .samples = [] { return float_samples(1, -2.5, 2.5); },
  };
  return op;
}

}  // namespace tightloop::ops
