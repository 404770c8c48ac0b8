// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/alias.h>
#include <tightloop/base/error.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace tightloop {
namespace {

double checked_sum(std::span<const double> weights) {
  double sum = 0;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    if (!(weights[r] >= 0) || !std::isfinite(weights[r]))
      throw Error(
          fmt::format("the weight of row {} is {}; weights are finite and at least 0", r + 1, weights[r]));
    sum += weights[r];
  }
  if (!(sum > 0) || !std::isfinite(sum))
    throw Error(fmt::format("the weights of the {} rows add up to {}; at least one must be greater than 0",
                            weights.size(), sum));
  return sum;
}

}  // namespace

std::vector<AliasEntry> alias_table(std::span<const double> weights) {
  const double scale = static_cast<double>(weights.size()) / checked_sum(weights);
  std::vector<AliasEntry> table(weights.size());
  std::vector<std::int64_t> small, large;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    const auto row = static_cast<std::int64_t>(r);
    table[r] = {weights[r] * scale, row};
    (table[r].keep < 1 ? small : large).push_back(row);
  }
  while (!small.empty() && !large.empty()) {
    const auto low = static_cast<std::size_t>(small.back()), high = static_cast<std::size_t>(large.back());
    small.pop_back();
    table[low].other = large.back();
    table[high].keep -= 1 - table[low].keep;
    if (table[high].keep >= 1) continue;
    small.push_back(large.back());
    large.pop_back();
  }
  // What is left over is a full column but for rounding; a row of weight 0 must not become one.
  const auto heaviest = std::max_element(weights.begin(), weights.end()) - weights.begin();
  for (const auto row : large) table[static_cast<std::size_t>(row)].keep = 1;
  for (const auto row : small) {
    const auto r = static_cast<std::size_t>(row);
    if (weights[r] > 0)
      table[r].keep = 1;
    else
      table[r] = {0, heaviest};
  }
  return table;
}

}  // namespace tightloop
