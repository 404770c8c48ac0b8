// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/run.h>

#include <optional>
#include <string>

namespace tightloop::train {

/// A metric that is watched, and the best value that it has had. NaN is never better.
class Monitor {
 public:
  /// `metric` "": the run's usual one; `mode` none: as the metric is.
  explicit Monitor(std::string metric = "", std::optional<optim::Direction> mode = {}, double min_delta = 0)
      : given_(std::move(metric)), mode_(mode), min_delta_(min_delta) {}

  /// Throws Error in the name of `who` when the run has no such metric.
  void check(const RunFacts& facts, const std::string& who) const { facts.check_metric(who, given_); }
  /// Forgets what it saw, after check().
  void start(const RunFacts& facts, const std::string& who);
  /// The epoch's value; none when the epoch was not evaluated.
  std::optional<double> value(const Run& run, const EpochRecord& record) const;
  /// True when `value` beats the best by more than min_delta; it is the best then.
  bool better(double value);

  const std::string& metric() const { return metric_; }
  double best() const { return best_; }  ///< NaN: none yet
  void set_best(double best) { best_ = best; }
  bool lower() const { return lower_; }

 private:
  std::string given_, metric_;
  std::optional<optim::Direction> mode_;
  double min_delta_;
  bool lower_ = true;
  double best_ = 0;
};

}  // namespace tightloop::train
