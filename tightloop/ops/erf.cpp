// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

/// x + x P(x²) near 0, else 1 - exp(-P(|x|)).
Scalar fast(Scalar x) {
  ScalarBuilder& b = *x.builder;
  const Scalar z = x * x;
  const Scalar near =
      b.fma(x,
            math::polynomial(z, {0.12837915122509003, -0.3761250674724579, 0.11281978338956833,
                                 -0.026773398742079735, 0.005004345905035734, -0.0006053445977158844}),
            x);
  const Scalar size = math::at_most(b.abs(x), 3.95);
  const Scalar p = math::polynomial(
      size, {0.0001774955162545666, 1.1277495622634888, 0.63705974817276, 0.10403736680746078,
             -0.022277090698480606, 0.0030556083656847477, -0.00019718182738870382});
  const Scalar far = b.like(x, 1) - math::exp(-p);
  return b.select(b.compare(ir::Compare::lt, size, b.like(x, 0.9)), near, b.copysign(far, x));
}

}  // namespace

const ir::OpDef& erf_op() {
  static const ir::OpDef op{
      .name = "erf",
      .doc = "Error function, 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x. f32 within 1.5 ulp.",
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
