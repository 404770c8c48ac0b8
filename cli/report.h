// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "progress.h"

#include <tightloop/train/job_run.h>

#include <chrono>
#include <string>
#include <vector>

namespace tightloop::cli {

/// Shows a run while it goes: a bar with the latest numbers and the time left on a terminal, a line an epoch
/// elsewhere (at most two a second), nothing when quiet. Ends the run on Ctrl-C.
class Report : public train::Observer {
 public:
  Report(std::vector<std::string> metrics, bool quiet);
  /// Says so when the first `steps` steps have agreed with the interpreter.
  void verifying(std::int64_t steps) { verifying_ = steps; }
  void progress(const train::Progress& p) override;
  void epoch(const train::EpochRecord& e) override;
  void note(const std::string& text) override;
  void resumed(const train::History& before, std::int64_t step) override;
  bool stop() override;
  void finish(const train::History& history, const std::string& directory);

 private:
  std::string line(const train::EpochRecord& e) const;
  bool due();
  std::optional<double> seconds_left(const train::Progress& p);

  std::vector<std::string> metrics_;
  bool quiet_;
  bool terminal_;
  std::int64_t verifying_ = 0;
  std::int64_t shown_ = 0;  ///< last epoch that got a line
  std::chrono::steady_clock::time_point last_;
  bool colour_;
  std::optional<train::Evaluation> validation_;  ///< the last one
  std::int64_t first_step_ = -1;  ///< at the first progress, from which the time left is reckoned
  std::chrono::steady_clock::time_point first_time_;
};

/// A line that names the parameters which take no part in the loss; "" when there are none.
std::string idle_text(const train::PreparedJob& prepared);

/// Writes what was left out or is to be known to the standard error, ten lines at most.
void warn_of(const std::vector<std::string>& notes);

/// "loss 0.123  accuracy 0.91"
std::string evaluation_text(const train::Evaluation& e, const std::vector<std::string>& metrics);

}  // namespace tightloop::cli
