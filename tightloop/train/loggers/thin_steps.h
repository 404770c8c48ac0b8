// SPDX-License-Identifier: Apache-2.0
#pragma once
// Steps of a small net are done a million times a second, and nobody reads as many lines. Loggers that write
// text or events therefore get all steps as long as these are few, and of many the ones that a curve cannot
// do without.
#include <tightloop/train/loggers/logger.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace tightloop::train {

/// How many steps such a logger may be told: 10,000 at once, and kTextSteps a second in the long run.
class StepBudget {
 public:
  static constexpr double kTextSteps = 1000, kAtOnce = 10000;

  explicit StepBudget(double now) : last_(now) {}
  /// Of `waiting` steps at the time `now`, in seconds: takes them off.
  std::size_t take(std::size_t waiting, double now) {
    left_ = std::min(kAtOnce, left_ + kTextSteps * std::max(now - last_, 0.0));
    last_ = now;
    const std::size_t out = std::min(waiting, static_cast<std::size_t>(left_));
    left_ -= static_cast<double>(out);
    return out;
  }

 private:
  double left_ = kAtOnce;
  double last_;
};

/// Appends to `out` about `keep` of `steps`, in their order: all, or of each of equal stretches the last, and
/// for each value the steps with the lowest and the highest. A value that is NaN counts as the highest. At
/// least one stretch.
void thin_steps(std::span<const StepRecord> steps, std::size_t keep, std::vector<StepRecord>& out);

/// Thins steps that come a few at a time, such as those of short epochs: now and then all of a batch are a
/// stretch of thin_steps(). Of the others it keeps only what is a spike: a value farther out of the range of
/// those kept before than this range is wide, which it then widens.
class StepThinner {
 public:
  /// Appends to `out` those of `steps` to be told; `allowed` is how many of them may be.
  void thin(std::span<const StepRecord> steps, double allowed, std::vector<StepRecord>& out);

 private:
  struct Range {
    double low, high;
  };
  void keep_spikes(std::span<const StepRecord> steps, std::vector<StepRecord>& out);
  void begin_ranges(std::span<const StepRecord> steps);

  double credit_ = 0;          ///< steps that may be told
  std::vector<Range> ranges_;  ///< of each value, since the last stretch
  std::vector<std::size_t> kept_;
};

}  // namespace tightloop::train
