// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/beta.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::data {
namespace {

constexpr std::int64_t kSteps = 1024;

/// The continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's method.
double fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  const auto away = [](double v) { return std::fabs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / away(1 - (a + b) * x / (a + 1)), out = d;
  for (int m = 1; m < 1000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 / away(1 + term * d);
      c = away(1 + term / c);
      change = c * d;
      out *= change;
    }
    if (std::fabs(change - 1) < 1e-15) break;
  }
  return out;
}

/// The distribution function of Beta(a, a) for x up to 1/2.
double lower(double a, double x) {
  if (x <= 0) return 0;
  const double front =
      std::exp(a * std::log(x) + a * std::log1p(-x) + std::lgamma(2 * a) - 2 * std::lgamma(a));
  return front * fraction(a, a, x) / a;
}

}  // namespace

double beta_quantile(double alpha, double q) {
  if (q > 0.5) return 1 - beta_quantile(alpha, 1 - q);
  double low = 0, high = 0.5;
  for (int i = 0; i < 200 && high - low > 1e-16; ++i) {
    const double middle = (low + high) / 2;
    (lower(alpha, middle) < q ? low : high) = middle;
  }
  return (low + high) / 2;
}

Tensor draw_beta(double alpha, Draws& draws) {
  if (!(alpha > 0) || !std::isfinite(alpha))
    throw Error(fmt::format("alpha must be greater than 0, not {}", alpha));
  const Tensor u = draws.uniform();
  if (alpha == 1) return u;
  Array table(DType::f32, {kSteps + 1});
  for (std::int64_t i = 0; i <= kSteps; ++i)
    table.set(i, i == kSteps ? 1 : i == 0 ? 0 : beta_quantile(alpha, static_cast<double>(i) / kSteps));
  const Tensor quantiles(table), place = u * static_cast<double>(kSteps), step = floor(place);
  const Tensor at = cast(step, DType::i64);
  const Tensor low = gather(quantiles, at);
  return low + (gather(quantiles, at + 1.0) - low) * (place - step);
}

}  // namespace tightloop::data
