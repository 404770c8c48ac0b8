// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace tightloop::train {

/// Which steps of a run are profiled, as torch.profiler.schedule: `skip_first` steps go by, then `wait`
/// steps, `warmup` steps that are traced and forgotten, and `active` ones that count; again and again, or
/// `repeat` times.
struct ProfileSchedule {
  std::int64_t skip_first = 10;
  std::int64_t wait = 0;
  std::int64_t warmup = 5;
  std::int64_t active = 100;
  std::int64_t repeat = 1;  ///< 0: to the end of the run

  enum class Mode : std::uint8_t { rest, warmup, active };
  /// What step `step` (from 0) of the run is.
  Mode mode(std::int64_t step) const;
  /// The first step behind `step` with another mode; the largest number where there is none.
  std::int64_t next_change(std::int64_t step) const;
};

/// Throws Error for numbers below 0 and for no active step.
void check(const ProfileSchedule& schedule);

}  // namespace tightloop::train
