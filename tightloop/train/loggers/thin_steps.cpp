// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/loggers/thin_steps.h>

#include <cmath>

namespace tightloop::train {
namespace {

/// Positions of the steps to keep of one stretch.
void keep_of(std::span<const StepRecord> steps, std::vector<std::size_t>& kept) {
  kept.assign(1, steps.size() - 1);
  for (std::size_t v = 0; v < steps[0].values.size(); ++v) {
    std::size_t low = 0, high = 0;
    double bottom = steps[0].values[v], top = bottom;
    for (std::size_t i = 1; i < steps.size(); ++i) {
      const double value = steps[i].values[v];
      if (!(value >= bottom) && (value < bottom || std::isnan(bottom))) low = i, bottom = value;
      if (!(value <= top) && (value > top || !std::isnan(top))) high = i, top = value;
    }
    kept.push_back(low);
    kept.push_back(high);
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
}

}  // namespace

void thin_steps(std::span<const StepRecord> steps, std::size_t keep, std::vector<StepRecord>& out) {
  if (steps.empty()) return;
  if (steps.size() <= keep) {
    out.insert(out.end(), steps.begin(), steps.end());
    return;
  }
  const std::size_t each = 1 + 2 * steps[0].values.size();
  const std::size_t stretches = std::max<std::size_t>(1, keep / each);
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t first = steps.size() * i / stretches, last = steps.size() * (i + 1) / stretches;
    if (first == last) continue;
    const auto stretch = steps.subspan(first, last - first);
    keep_of(stretch, kept);
    for (const std::size_t k : kept) out.push_back(stretch[k]);
  }
}

}  // namespace tightloop::train
