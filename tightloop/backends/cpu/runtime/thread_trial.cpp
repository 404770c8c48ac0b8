// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/thread_trial.h>

namespace tightloop::backends::cpu {

void ThreadTrial::took(std::int64_t steps, double seconds) {
  if (!choosing_) return;
  since_ += seconds;
  steps_ += steps;
  const double pace = since_ / static_cast<double>(steps_);
  switch (phase_) {
    case Phase::many:
      pace_[0] = pace;
      if (since_ >= kTrialSeconds) enter(Phase::one);
      break;
    case Phase::one:
      pace_[1] = pace;
      if (since_ < kTrialSeconds) break;
      {
        const bool before = one_is_faster_;
        one_is_faster_ = pace_[1] < pace_[0];
        wait_ = before == one_is_faster_ ? std::min(2 * wait_, kLongestWait) : kFirstWait;
      }
      enter(Phase::settled);
      break;
    case Phase::settled:
      if (since_ >= wait_) enter(Phase::many);
      break;
  }
}

}  // namespace tightloop::backends::cpu
