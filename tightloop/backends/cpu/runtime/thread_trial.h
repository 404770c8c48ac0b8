// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

namespace tightloop::backends::cpu {

/// Holds a predicted number of threads against one thread on the real steps, and keeps what is faster: now
/// and then a few steps run each way. Results have the same bits either way, so that it may change at any
/// time; what other programs do to the machine is noticed within a second or so.
class ThreadTrial {
 public:
  /// With `many` 1, or unless `choose`, there is nothing to try: steps run with `many` threads.
  explicit ThreadTrial(int many = 1, bool choose = true) : many_(many), choosing_(choose && many > 1) {}

  struct Stretch {
    int threads;
    std::int64_t steps;
  };
  /// What to run next of `left` steps.
  Stretch next(std::int64_t left) const {
    if (!choosing_) return {many_, left};
    const double pace = pace_[phase_ == Phase::one ? 1 : 0];
    const double wanted = phase_ == Phase::settled ? wait_ - since_ : kTrialSeconds - since_;
    const double known = phase_ == Phase::settled ? pace_[one_is_faster_ ? 1 : 0] : pace;
    const double steps = known > 0 ? std::clamp(wanted / known, 1.0, 1e15) : 1;
    return {threads(), std::min(left, static_cast<std::int64_t>(steps))};
  }

  /// What that took.
  void took(std::int64_t steps, double seconds);

  /// The number of threads that steps use for now.
  int threads() const {
    if (phase_ == Phase::one) return 1;
    return phase_ == Phase::settled && one_is_faster_ ? 1 : many_;
  }

 private:
  enum class Phase : std::uint8_t { many, one, settled };
  static constexpr double kTrialSeconds = 1e-3;
  static constexpr double kFirstWait = 0.2;
  static constexpr double kLongestWait = 2;

  void enter(Phase p) {
    phase_ = p;
    since_ = 0;
    steps_ = 0;
  }

  int many_;
  bool choosing_;
  Phase phase_ = Phase::many;
  bool one_is_faster_ = false;
  double pace_[2] = {0, 0};  ///< seconds a step: with many threads, with one
  double since_ = 0;         ///< seconds in this phase
  std::int64_t steps_ = 0;   ///< steps in this phase
  double wait_ = kFirstWait;
};

}  // namespace tightloop::backends::cpu
