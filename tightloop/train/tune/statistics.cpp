// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/tune/statistics.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tightloop::train::tune {

double median(std::vector<double> values) {
  require(!values.empty(), "median: no values");
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Interval median_interval(const std::vector<double>& values, double level) {
  Interval out;
  out.middle = median(values);
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t n = sorted.size();
  double term = std::pow(0.5, static_cast<double>(n)), below = 0;  // P(Binomial = k - 1), P(Binomial < k)
  for (std::size_t k = 1; 2 * k <= n + 1; ++k) {
    below += term;
    const double coverage = std::max(0.0, 1 - 2 * below);
    if (k > 1 && coverage < level) break;
    out.low = sorted[k - 1], out.high = sorted[n - k], out.coverage = coverage;
    term *= static_cast<double>(n - k + 1) / static_cast<double>(k);
  }
  return out;
}

std::string_view name(Verdict verdict) {
  static constexpr std::array<std::string_view, 4> kNames = {"faster", "slower", "noise", "open"};
  return kNames[static_cast<std::size_t>(verdict)];
}

Verdict judge(const Interval& gain, double least, double level) {
  if (gain.coverage < level) return Verdict::open;
  if (gain.low > 1 && gain.middle >= 1 + least) return Verdict::faster;
  if (gain.high < 1 / (1 + least)) return Verdict::slower;
  return gain.high < 1 + least ? Verdict::noise : Verdict::open;
}

}  // namespace tightloop::train::tune
