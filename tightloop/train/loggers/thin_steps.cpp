// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/loggers/thin_steps.h>

#include <cmath>
#include <utility>

namespace tightloop::train {
namespace {

/// Positions of a value's lowest and highest.
std::pair<std::size_t, std::size_t> extremes(std::span<const StepRecord> steps, std::size_t v) {
  std::size_t low = 0, high = 0;
  double bottom = steps[0].values[v], top = bottom;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const double value = steps[i].values[v];
    if (!(value >= bottom) && (value < bottom || std::isnan(bottom))) low = i, bottom = value;
    if (!(value <= top) && (value > top || !std::isnan(top))) high = i, top = value;
  }
  return {low, high};
}

void in_order(std::vector<std::size_t>& kept) {
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
}

/// Positions of the steps to keep of one stretch.
void keep_of(std::span<const StepRecord> steps, std::vector<std::size_t>& kept) {
  kept.assign(1, steps.size() - 1);
  for (std::size_t v = 0; v < steps[0].values.size(); ++v) {
    const auto [low, high] = extremes(steps, v);
    kept.push_back(low);
    kept.push_back(high);
  }
  in_order(kept);
}

std::size_t kept_of_stretch(std::span<const StepRecord> steps) { return 1 + 2 * steps[0].values.size(); }

}  // namespace

void thin_steps(std::span<const StepRecord> steps, std::size_t keep, std::vector<StepRecord>& out) {
  if (steps.empty()) return;
  if (steps.size() <= keep) {
    out.insert(out.end(), steps.begin(), steps.end());
    return;
  }
  const std::size_t stretches = std::max<std::size_t>(1, keep / kept_of_stretch(steps));
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < stretches; ++i) {
    const std::size_t first = steps.size() * i / stretches, last = steps.size() * (i + 1) / stretches;
    if (first == last) continue;
    const auto stretch = steps.subspan(first, last - first);
    keep_of(stretch, kept);
    for (const std::size_t k : kept) out.push_back(stretch[k]);
  }
}

void StepThinner::begin_ranges(std::span<const StepRecord> steps) {
  ranges_.clear();
  for (std::size_t v = 0; v < steps[0].values.size(); ++v) {
    const auto [low, high] = extremes(steps, v);
    ranges_.push_back({steps[low].values[v], steps[high].values[v]});
  }
}

void StepThinner::keep_spikes(std::span<const StepRecord> steps, std::vector<StepRecord>& out) {
  kept_.clear();
  for (std::size_t v = 0; v < ranges_.size(); ++v) {
    const auto [low, high] = extremes(steps, v);
    Range& range = ranges_[v];
    if (std::isnan(range.high)) continue;
    const double bottom = steps[low].values[v], top = steps[high].values[v], width = range.high - range.low;
    if (!(top <= range.high + width)) kept_.push_back(high), range.high = top;
    if (bottom < range.low - width) kept_.push_back(low), range.low = bottom;
  }
  in_order(kept_);
  for (const std::size_t k : kept_) out.push_back(steps[k]);
}

void StepThinner::thin(std::span<const StepRecord> steps, double allowed, std::vector<StepRecord>& out) {
  if (steps.empty()) return;
  credit_ += allowed;
  const auto count = static_cast<double>(steps.size()), each = static_cast<double>(kept_of_stretch(steps));
  if (ranges_.empty() || credit_ >= std::min(count, each)) {
    const double keep = std::min(count, credit_);
    thin_steps(steps, static_cast<std::size_t>(keep), out);
    credit_ = std::min(credit_ - keep, each);
    return begin_ranges(steps);
  }
  keep_spikes(steps, out);
}

}  // namespace tightloop::train
