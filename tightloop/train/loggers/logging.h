// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/loggers/hub.h>
#include <tightloop/train/run.h>

#include <chrono>
#include <memory>

namespace tightloop::train {

/// The loggers of a run by steps: records what each step computes as one number, and tells epochs. Without
/// loggers it does nothing.
class Logging {
 public:
  /// All must outlive it.
  Logging(const TrainerOptions& options, const TrainingData& data, const Model& model, Run& run);
  /// Ends the logs of a run that failed.
  ~Logging();
  Logging(const Logging&) = delete;
  Logging& operator=(const Logging&) = delete;

  /// Before the first step, and after a resume.
  void start();
  /// Between two chunks of steps that went well. The first call starts the loggers.
  void step();
  /// The run goes on with another compiled step.
  void session_changed();
  /// The run was put back to an earlier step.
  void went_back();
  void epoch(const EpochRecord& record);
  void end();

 private:
  RunInfo info() const;
  bool weights_due();
  Weights weights();
  void note_thinned() const;
  void begin();
  void pass_notes();

  const TrainerOptions& options_;
  const TrainingData& data_;
  const Model& model_;
  Run& run_;
  std::vector<EpochRecord> before_;
  std::int64_t first_step_ = 0;
  std::shared_ptr<Recorder> recorder_;  ///< null: no steps are recorded
  bool rate_moves_ = false;             ///< the rate is among what is recorded
  std::unique_ptr<LogHub> hub_;
  std::chrono::steady_clock::time_point weights_at_{};  ///< when loggers got them last
  bool ended_ = false;
};

/// The steps that TrainerOptions::log_every means.
RecordedSteps recorded_steps(std::int64_t log_every);

}  // namespace tightloop::train
