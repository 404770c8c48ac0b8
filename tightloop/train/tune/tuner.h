// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for a faster job: every move is measured beside the job as it is, in turn; those that gain are
// put together one after the other, the largest gain first, each measured again beside what is there; at the
// end the job as it was and the tuned one are measured once more. What is compared is the time for the same
// number of samples, evaluation, logging and checkpoints included, and not the time of a step.
#include <tightloop/train/tune/moves/move.h>
#include <tightloop/train/tune/statistics.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train::tune {

struct TuneOptions {
  double seconds = 60;          ///< the search takes about so long
  double least_gain = 0.02;     ///< what is gained less is not worth a change
  double band = 0.05;           ///< a loss may be so much higher, relatively, than the job's
  double level = 0.9;           ///< how sure an interval must be
  std::size_t most_pairs = 15;  ///< trials of each of two ways that are compared
};

/// What became of one way to do a move.
struct Outcome {
  std::string move, label;
  Settings sets;
  Effect effect = Effect::none;
  std::optional<Interval> gain;       ///< time of the job over time with the move; empty: not measured
  std::size_t pairs = 0;              ///< trials of each
  std::optional<std::size_t> memory;  ///< bytes of the training
  std::optional<double> loss;         ///< after the same samples, on the same samples
  bool taken = false;
  std::string why;  ///< taken or not
};

struct TuneResult {
  std::vector<Outcome> outcomes;
  double seconds_per_sample = 0;  ///< of the job as it is
  std::size_t memory = 0;
  std::optional<double> loss;         ///< of the job as it is, once a move needed it
  double allowance = 0;               ///< by which a loss may be higher
  Settings taken;                     ///< all together; empty: nothing
  std::optional<Interval> confirmed;  ///< the gain of all, measured anew at the end
  std::optional<double> tuned_loss;
  std::optional<std::size_t> tuned_memory;
  bool interrupted = false;
  double seconds = 0;  ///< that the search took
  std::string ending;  ///< a sentence: what came of it
};

/// Told while the search goes on, a line each.
using Progressed = std::function<void(const std::string&)>;

/// Searches. A move whose job cannot be run is reported, and the others go on. When the measurer throws
/// Interrupted, the result is what is known by then. Throws Error when the time is too little for a single
/// move, saying how much would do, and when the job itself cannot be run.
TuneResult search(const std::vector<Proposed>& moves, Measurer& measurer, const TuneOptions& options,
                  const Progressed& progressed = {});

}  // namespace tightloop::train::tune
