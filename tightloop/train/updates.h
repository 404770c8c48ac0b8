// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a training step does with its gradients beside the update rule.
#include <tightloop/optim/gradient_rules.h>
#include <tightloop/optim/loss_scale.h>
#include <tightloop/optim/optimizer.h>
#include <tightloop/optim/schedule.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tightloop::train {

/// How the rate moves while weights are averaged, as torch.optim.swa_utils.SWALR.
struct AveragingRate {
  double start = 0;  ///< below 1: a share of the epochs; else the first epoch (from 1); 0: none
  double lr = 0;
  std::int64_t anneal_epochs = 10;  ///< from the rate of the first epoch to `lr`
  bool linear = false;              ///< else by a cosine

  /// The first epoch, from 1, of a run of `epochs`.
  std::int64_t first_epoch(std::int64_t epochs) const;
};

/// A loss that counts as lost: more than `factor` · |average| above the average of the last `window` or so.
struct SpikeRule {
  double factor = 0;  ///< 0: none does
  std::int64_t window = 10;
};

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
  AveragingRate averaging = {};
  SpikeRule spike = {};
  bool gradient_norm = false;  ///< the states of kGradientNorm are kept
  /// An update one of whose gradients is not finite is skipped as if it had not come: parameters, slots,
  /// averages, the optimizer's count and a schedule by steps stay. Schedules by epochs go on.
  optim::LossScale loss_scale = {};
  DType parameters = DType::f32;  ///< bf16 or f16: what parameters are rounded to after each update
  /// Epoch, from 1, in which parameters joined the training, by path: the optimizer counts from there.
  std::map<std::string, std::int64_t> since = {};
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
inline constexpr const char* kMomentum =
    "momentum";  ///< f64[]: that of the last step, where a schedule moves it

// Sums over an epoch, f64[].
inline constexpr const char* kEpochSum = "train.epoch.";                   ///< what they begin with
inline constexpr const char* kGradientNorm = "train.epoch.gradient_norm";  ///< Σ norm, before any clipping
inline constexpr const char* kGradientNormMax = "train.epoch.gradient_norm_max";
inline constexpr const char* kUpdates = "train.epoch.updates";

// What loss scaling keeps; constant within an update.
inline constexpr std::string_view kScaler = "train.loss_scale.";     ///< what they begin with
inline constexpr const char* kLossScale = "train.loss_scale.scale";  ///< f64[]
inline constexpr const char* kScalerGood = "train.loss_scale.good";  ///< i64[], see ScalerState
inline constexpr const char* kScalerLeft = "train.loss_scale.left";  ///< i64[]
inline constexpr const char* kScaleLostStep =
    "train.loss_scale.lost_step";                                     ///< i64[]: ScalerStep::lost, or -1
inline constexpr const char* kSkipped = "train.loss_scale.skipped.";  ///< and n: i64[], from update n on
inline constexpr const char* kSkippedUpdates = "train.epoch.skipped_updates";  ///< f64[], of the epoch

// What SpikeRule keeps.
inline constexpr const char* kSpike = "train.spike.";            ///< what they begin with
inline constexpr const char* kSpikeStep = "train.spike.step";    ///< i64[]: the first such step, or -1
inline constexpr const char* kSpikeMean = "train.spike.mean";    ///< f64[]
inline constexpr const char* kSpikeCount = "train.spike.count";  ///< f64[]: losses in the average

/// Which update a step belongs to (i64[]), and whether it is the one that makes it (bool[]).
struct UpdateCount {
  Tensor update, ends;
};
UpdateCount count_updates(const Tensor& step, const RunLength& length, std::int64_t accumulate);

/// An update: its number in the run, and how many before it were skipped (i64[]; empty: none).
struct UpdateTime {
  Tensor update;
  Tensor skipped = {};
};
/// The schedule's rate in update `now` of a run of `length` updates: f64[].
Tensor scheduled_rate(const UpdateOptions& options, const RunLength& length, double lr,
                      const UpdateTime& now);
/// The momentum or β₁ of an optimizer whose own is `momentum`; empty: no schedule moves it.
Tensor scheduled_momentum(const UpdateOptions& options, const RunLength& length, double momentum,
                          const UpdateTime& now);

}  // namespace tightloop::train
