// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run tells: its progress, and a record of each epoch.
#include <tightloop/train/evaluate.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::train {

/// Where a run stands, told after each chunk of steps (about ten times a second).
struct Progress {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t epochs = 0;
  std::int64_t step = 0;   ///< steps done
  std::int64_t steps = 0;  ///< steps of the whole run
  double loss = 0;         ///< average of this epoch so far
  double samples_per_s = 0;
  double lr = 0;  ///< of the last step
};

/// One line of a run's history.
struct EpochRecord {
  std::int64_t epoch = 0;  ///< from 1
  std::int64_t step = 0;   ///< steps done
  double train_loss = 0;   ///< average over the epoch, each row weighing the same
  std::optional<Evaluation> validation;
  double samples_per_s = 0;
  double seconds = 0;  ///< since the run began, those before a resume included
  double lr = 0;       ///< of the epoch's last step
  /// What callbacks measured, by name; metrics.csv has a column for each.
  std::vector<std::pair<std::string, double>> extra = {};
};

/// Where the seconds of a run went, as far as this process ran it.
struct TimeSplit {
  double reading = 0;          ///< of the data, by prepare()
  double compiling = 0;        ///< the step: graph, passes, native code
  double steps = 0;            ///< without the waiting
  double waiting = 0;          ///< of steps for the samples of a stream
  double evaluation = 0;       ///< of the validation rows, compiling it included
  double callbacks = 0;        ///< checkpoints among them
  double total = 0;            ///< from before compiling to the end
  double last_evaluation = 0;  ///< of these, one pass over the validation rows
};

struct History {
  std::vector<EpochRecord> epochs;
  std::int64_t steps = 0;
  bool stopped = false;                   ///< by the observer, before its end
  std::string reason = {};                ///< why a callback ended the run; "" when it took its full length
  std::vector<std::string> skipped = {};  ///< samples of streams that were left out, and why
  TimeSplit time = {};
};

/// Sees a run from outside. Called between chunks, from the thread that called fit().
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void progress(const Progress&) {}
  virtual void epoch(const EpochRecord&) {}
  /// Before the first chunk of a run that goes on from a checkpoint of step `step`.
  virtual void resumed(const History& /*before*/, std::int64_t /*step*/) {}
  virtual void note(const std::string& /*text*/) {}  ///< what a callback has to say
  virtual bool stop() { return false; }              ///< true ends the run after the present chunk
};

}  // namespace tightloop::train
