// SPDX-License-Identifier: Apache-2.0
#pragma once
// How the learning rate moves: functions of the time since the run began, computed inside the step's graph.
// Names, options and formulas are those of torch.optim.lr_scheduler, in closed form.
//   auto warm = optim::sequence({{optim::make_schedule("linear", {{"start_factor", 0.1}}), 5},
//                                {optim::make_schedule("cosine")}});
#include <tightloop/base/options.h>
#include <tightloop/ir/tensor.h>
#include <tightloop/optim/plateau.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace tightloop::optim {

class Schedule {
 public:
  virtual ~Schedule() = default;
  /// The rate at `time`, f64[]: steps or epochs since the schedule began, 0 at first. `lr` is the optimizer's
  /// rate and `length` how long the schedule lasts, counted like `time`. Groups move in proportion.
  virtual Tensor rate(const Tensor& time, double lr, double length) const = 0;
  /// What the optimizer's momentum (or β₁) `own` becomes at `time`, f64[]; empty: it stays.
  virtual Tensor momentum(const Tensor& /*time*/, double /*own*/, double /*length*/) const { return {}; }
  /// True when the job asked for a momentum that moves, so that an optimizer without one is refused.
  virtual bool needs_momentum() const { return false; }
  /// Not null when an epoch's metric moves the rate too (schedule reduce_on_plateau).
  virtual const PlateauOptions* plateau() const { return nullptr; }
};
using SchedulePtr = std::shared_ptr<const Schedule>;

/// A part of sequence(): `length` steps or epochs long. The last one takes what is left of the run.
struct SchedulePart {
  SchedulePtr schedule;
  double length = 0;
};
/// One after the other; each counts time from its own start, as torch.optim.lr_scheduler.SequentialLR. Throws
/// Error unless there are parts and all but the last have a length above 0.
SchedulePtr sequence(std::vector<SchedulePart> parts);
/// lr · Π rateᵢ / lr, as torch.optim.lr_scheduler.ChainedScheduler does with factors.
SchedulePtr product(std::vector<SchedulePtr> factors);

/// A schedule that a job file names. One per file, listed in optim/schedules/index.def.
struct ScheduleDef {
  std::string_view name;
  std::string_view doc;
  std::vector<OptionSpec> options;
  SchedulePtr (*build)(const Options& resolved) = nullptr;
  bool per_step = false;  ///< counts steps unless told otherwise; the others count epochs
};

std::span<const ScheduleDef* const> all_schedules();
/// Null when there is none of this name.
const ScheduleDef* find_schedule(std::string_view name);
/// Checks `given` and builds. Throws Error on an unknown name (suggesting the nearest), option or value.
SchedulePtr make_schedule(std::string_view name, const Options& given = {});

/// A schedule made of a function (time, lr, length) → rate; files of the index use it.
template <class F>
SchedulePtr schedule_of(F rate) {
  struct Made final : Schedule {
    explicit Made(F f) : f(std::move(f)) {}
    Tensor rate(const Tensor& time, double lr, double length) const override { return f(time, lr, length); }
    F f;
  };
  return std::make_shared<Made>(std::move(rate));
}

}  // namespace tightloop::optim
