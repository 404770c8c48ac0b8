// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/thin.h>

#include <algorithm>
#include <cmath>

namespace tightloop::train::report {
namespace {

/// The kept points of [first, last), which lie in one column.
void keep_column(std::span<const double> y, std::size_t first, std::size_t last,
                 std::vector<std::size_t>& out) {
  std::size_t low = last, high = last;
  std::vector<std::size_t> kept{first, last - 1};
  for (std::size_t i = first; i < last; ++i) {
    if (!std::isfinite(y[i])) {
      if (i == first || std::isfinite(y[i - 1])) kept.push_back(i);
      continue;
    }
    if (low == last || y[i] < y[low]) low = i;
    if (high == last || y[i] > y[high]) high = i;
  }
  if (low != last) kept.push_back(low), kept.push_back(high);
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  out.insert(out.end(), kept.begin(), kept.end());
}

}  // namespace

std::vector<std::size_t> thin(std::span<const double> x, std::span<const double> y, std::size_t columns) {
  std::vector<std::size_t> out;
  const std::size_t n = std::min(x.size(), y.size());
  if (n <= 2 * columns || columns == 0) {
    for (std::size_t i = 0; i < n; ++i) out.push_back(i);
    return out;
  }
  const double span = x[n - 1] - x[0];
  const auto column = [&](std::size_t i) {
    const double place = span > 0 ? (x[i] - x[0]) / span * static_cast<double>(columns) : 0;
    const double last = static_cast<double>(columns - 1);
    return place > 0 ? static_cast<std::size_t>(std::min(place, last)) : 0;
  };
  for (std::size_t first = 0; first < n;) {
    std::size_t last = first + 1;
    while (last < n && column(last) == column(first)) ++last;
    keep_column(y, first, last, out);
    first = last;
  }
  return out;
}

}  // namespace tightloop::train::report
