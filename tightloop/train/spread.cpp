// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/spread.h>

#include <cmath>
#include <numbers>

namespace tightloop::train {
namespace {

/// P(|T| <= t), Abramowitz and Stegun 26.7.3 and 26.7.4.
double student_within(double t, std::int64_t freedom) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(freedom)));
  const double sine = std::sin(theta), cosine = std::cos(theta);
  const bool odd = freedom % 2 != 0;
  double term = odd ? cosine : 1, sum = freedom > 1 ? term : 0;
  for (std::int64_t k = odd ? 3 : 2; k < freedom; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (theta + sine * sum) : sine * sum;
}

}  // namespace

double student_quantile(double within, std::int64_t freedom) {
  require(freedom >= 1 && within > 0 && within < 1, "student_quantile: out of range");
  double low = 0, high = 1;
  while (student_within(high, freedom) < within) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (student_within(middle, freedom) < within ? low : high) = middle;
  }
  return high;
}

Spread spread_of(std::span<const double> values) {
  require(!values.empty(), "spread_of: no values");
  const double n = static_cast<double>(values.size());
  Spread out{.count = static_cast<std::int64_t>(values.size())};
  for (const double v : values) out.mean += v / n;
  if (values.size() == 1) {
    out.deviation = out.low = out.high = std::nan("");
    return out;
  }
  double squares = 0;
  for (const double v : values) squares += (v - out.mean) * (v - out.mean);
  out.deviation = std::sqrt(squares / (n - 1));
  const double half = student_quantile(0.95, out.count - 1) * out.deviation / std::sqrt(n);
  out.low = out.mean - half, out.high = out.mean + half;
  return out;
}

}  // namespace tightloop::train
