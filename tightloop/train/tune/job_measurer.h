// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job_run.h>
#include <tightloop/train/tune/measure.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::train::tune {

/// A job file and what --set changed of it.
struct GivenJob {
  std::string text;
  std::string source;  ///< the file's name
  std::string folder;  ///< that the job's paths start from
  Settings given;

  /// The job with more settings. Throws Error for those that do not fit.
  Job with(const Settings& settings) const;
};

/// Runs the job itself, in this process, as `train` would: with its loggers, callbacks and checkpoints, which
/// write to a folder of temporary files. Each trial begins with the job's first weights; data that the
/// settings do not concern are read once. What would end a run early (early_stopping, stop_at, max_time) has
/// no part.
class JobMeasurer : public Measurer {
 public:
  /// `loss_seconds`: how long a training may take whose loss is compared; `interrupted` is asked about ten
  /// times a second.
  JobMeasurer(GivenJob job, double loss_seconds, std::function<bool()> interrupted);
  ~JobMeasurer() override;
  JobMeasurer(const JobMeasurer&) = delete;
  JobMeasurer& operator=(const JobMeasurer&) = delete;

  double seconds_per_sample(const Settings& settings, double seconds) override;
  double loss(const Settings& settings, bool other_seed) override;
  std::size_t memory(const Settings& settings) override;
  double now() override;

  /// The job made ready, its data read once.
  PreparedJob prepared(Job job);
  /// Samples after which losses are compared, as far as one was asked for.
  std::int64_t loss_samples() const { return loss_samples_; }

 private:
  void choose_loss_samples();

  GivenJob job_;
  double loss_seconds_;
  std::function<bool()> interrupted_;
  std::string folder_;
  std::vector<std::pair<std::string, LoadedData>> data_;  ///< the job's own, and the last other
  std::map<Settings, double> validation_s_;               ///< of the end of an epoch with a validation
  std::map<Settings, std::size_t> memory_;
  double own_rate_ = 0;  ///< seconds a sample of the job as it is
  std::int64_t loss_samples_ = 0;
};

}  // namespace tightloop::train::tune
