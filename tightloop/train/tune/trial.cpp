// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/measure.h>
#include <tightloop/train/tune/trial.h>

#include <utility>

namespace tightloop::train::tune {

namespace {
constexpr double kWarming = 0.2;  // of the seconds of a trial
}

Trial::Trial(double seconds, bool needs_validation, std::function<bool()> interrupted)
    : seconds_(seconds), needs_validation_(needs_validation), interrupted_(std::move(interrupted)) {}

double Trial::since_last() {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - last_).count();
  last_ = now;
  return seconds;
}

void Trial::progress(const Progress& p) {
  if (interrupted_()) throw Interrupted{};
  const double seconds = since_last();
  const std::int64_t steps = p.step - last_step_;
  const bool first = last_step_ == 0;  // its time holds what came before the first step
  last_step_ = p.step;
  if (begun_) {
    steps_ += steps, steps_s_ += seconds;
  } else if (!first) {
    warming_s_ += seconds;
    begun_ = warming_s_ >= kWarming * seconds_;
  }
  if (!has_steps() || steps_s_ + validated_.seconds + plain_.seconds < seconds_) return;
  if (!needs_validation_ || validated_.count > 0) throw Done{};
  stop_ = true;
}

void Trial::epoch(const EpochRecord& e) {
  const double seconds = since_last();
  if (!begun_) return warming_s_ += seconds, void();
  Sum& sum = e.validation ? validated_ : plain_;
  sum.seconds += seconds, ++sum.count;
}

}  // namespace tightloop::train::tune
