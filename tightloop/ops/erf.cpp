// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

Scalar fast(Scalar x) {
  return math::odd_rational(x, 3.95,
                            {1.1283791065216064, 0.1915508359670639, 0.05287552252411842,
                             0.003808185923844576, 0.00028468857635743916, 2.0259080883988645e-06},
                            {1.0, 0.5030902028083801, 0.1145598441362381, 0.015055138617753983,
                             0.0011707321973517537, 3.783184729400091e-05});
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
