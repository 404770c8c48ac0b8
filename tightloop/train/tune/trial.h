// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/history.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

namespace tightloop::train::tune {

/// Times a run from outside, apart: its steps, and the ends of its epochs (validation, callbacks, logs),
/// which a short trial sees too often, too seldom or never.
class Trial : public Observer {
 public:
  struct Done {};  ///< thrown out of the run when enough was seen

  /// `seconds` of steps, after a fifth of that for warming up. With `needs_validation` the run then ends by
  /// itself, which validates once more, where no validation was seen.
  Trial(double seconds, bool needs_validation, std::function<bool()> interrupted);

  void progress(const Progress& p) override;
  void epoch(const EpochRecord& e) override;
  bool stop() override { return stop_; }

  std::int64_t steps() const { return steps_; }
  double seconds_per_step() const { return steps_s_ / static_cast<double>(steps_); }
  bool has_steps() const { return steps_ > 0 && steps_s_ > 0; }
  /// Of the end of an epoch with a validation, and of one without; the mean, where one was seen.
  std::optional<double> validation_s() const { return validated_.mean(); }
  std::optional<double> epoch_s() const { return plain_.mean(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Sum {
    double seconds = 0;
    std::int64_t count = 0;
    std::optional<double> mean() const {
      return count == 0 ? std::nullopt : std::optional(seconds / static_cast<double>(count));
    }
  };
  double since_last();

  double seconds_;
  bool needs_validation_;
  std::function<bool()> interrupted_;
  Clock::time_point last_ = Clock::now();
  double warming_s_ = 0;
  bool begun_ = false, stop_ = false;
  std::int64_t last_step_ = 0, steps_ = 0;
  double steps_s_ = 0;
  Sum validated_, plain_;
};

}  // namespace tightloop::train::tune
