// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a training step does with its gradients beside the update rule.
#include <tightloop/optim/gradient_rules.h>
#include <tightloop/optim/optimizer.h>
#include <tightloop/optim/schedule.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tightloop::train {

struct UpdateOptions {
  optim::SchedulePtr schedule = {};  ///< null: the optimizer's rate throughout
  bool per_step = false;             ///< the schedule counts steps; else epochs
  optim::GradientRules gradients = {};
  /// Decay of averages of all that training changes, 0: none. A state "ema.<path>" becomes decay · average +
  /// (1 - decay) · value in each step; whole numbers are not averaged.
  double ema = 0;
  bool evaluate_average = true;  ///< evaluations, and the model at the end, have the averages
  /// Steps whose gradients make one update, as if their rows were one batch. The last ones of an epoch make
  /// one too, however many they are. Schedules by steps, and the optimizer, count updates.
  std::int64_t accumulate = 1;
  /// A state kRateScale, which callbacks set, multiplies the rate.
  bool scaled_rate = false;
};

/// Throws Error for values out of range.
void check(const UpdateOptions& options);

/// Steps of an epoch and of the whole run.
struct RunLength {
  std::int64_t epoch = 1;
  std::int64_t run = 1;

  /// The same counted in updates of `steps` steps.
  RunLength updates(std::int64_t steps) const;
};

inline constexpr const char* kRateScale = "train.rate_scale";  ///< f64[], 1 at the start
inline constexpr const char* kRate = "lr";  ///< f64[]: the rate of the last step, where a schedule moves it
inline constexpr std::string_view kAverage = "ema.";  ///< and the path

/// Which update a step belongs to (i64[]), and whether it is the one that makes it (bool[]).
struct UpdateCount {
  Tensor update, ends;
};
UpdateCount count_updates(const Tensor& step, const RunLength& length, std::int64_t accumulate);

/// The schedule's rate in update `step` (i64[]) of a run of `length` updates: f64[].
Tensor scheduled_rate(const UpdateOptions& options, const RunLength& length, double lr, const Tensor& step);

}  // namespace tightloop::train
