// SPDX-License-Identifier: Apache-2.0
#pragma once
// Several runs of one job: train.repeats from seeds that follow each other, each fold of data.fold, or both.
// The folder holds a run directory for each ("repeat-1", "fold-0", "fold-0-repeat-1") with its result.json,
// which marks it as finished, and tables of all: repeats.csv or folds.csv, and summary.csv.
#include <tightloop/train/job_run.h>
#include <tightloop/train/spread.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::train {

/// One run of a series.
struct Member {
  std::int64_t fold = -1;    ///< -1: the job has none, or one alone
  std::int64_t repeat = 0;   ///< from 1; 0: there is one alone
  std::int64_t seed = 0;     ///< the job's, and one more with each repeat
  std::string name() const;  ///< its folder
};

/// Whether a job asks for more than one run.
bool is_series(const Job& job);
/// The runs, in the order in which they are done.
std::vector<Member> members_of(const Job& job);
/// The job of one of them: of one seed and one fold.
Job member_job(const Job& job, const Member& member);

/// What a run came to.
struct MemberResult {
  Member member;
  std::int64_t steps = 0;
  double seconds = 0;
  /// train_loss of the last epoch; validation_loss and metrics of the model that was kept.
  std::vector<std::pair<std::string, double>> values = {};
  std::string failure = {};  ///< why there is none
};

struct SeriesResult {
  std::vector<MemberResult> members;
  bool stopped = false;  ///< by the observer; a resumed series goes on with the next missing run
  /// Folders of runs that an earlier, other series has left there.
  std::vector<std::string> others = {};
  std::int64_t failures() const;
  /// Of the runs that did not fail, by metric.
  std::vector<std::pair<std::string, Spread>> summary() const;
};

/// Sees a series from outside.
class SeriesObserver {
 public:
  virtual ~SeriesObserver() = default;
  /// Before a run; may change its options. The observer of that run, or null.
  virtual Observer* begin(const Member&, PreparedJob&) { return nullptr; }
  /// After it, and for each that an earlier process has finished (`earlier`).
  virtual void end(const MemberResult&, bool /*earlier*/) {}
};

/// Trains them all into `directory`. `resume`: finished ones stay, an interrupted one goes on, the others are
/// trained; else all begin anew. A run that loses its loss counts as failed, and the next begins; so does any
/// later one that cannot be run. Throws Error for what is wrong with the first, and with the folder.
SeriesResult run_series(const Job& job, const std::string& directory, SeriesObserver& observer,
                        bool resume = false);

}  // namespace tightloop::train
