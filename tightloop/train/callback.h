// SPDX-License-Identifier: Apache-2.0
#pragma once
// What happens during a run beside its steps. Callbacks are called in the order in which a run was given
// them, but for those that write checkpoints, which come last and see what the others did.
#include <tightloop/train/history.h>
#include <tightloop/train/run_facts.h>
#include <tightloop/train/session.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::train {

class Run;

/// What a callback keeps in a checkpoint: arrays by name.
using Saved = std::map<std::string, Array>;

class Callback {
 public:
  virtual ~Callback() = default;
  /// "early_stopping": names its part of a checkpoint and its key in a job.
  virtual std::string_view name() const = 0;

  /// The place in a job that asks for it, "job.toml:5:9: train.swa", for messages.
  std::string where = {};

  /// Before anything is compiled: throws Error for what this run cannot give it.
  virtual void check(const RunFacts&) const {}
  /// What measure() adds to the records of epochs, by name: others may watch it.
  virtual std::vector<std::string> measures() const { return {}; }
  /// Before the step is built: what it needs in the graph.
  virtual void prepare(UpdateOptions&) const {}
  /// The step, later than `step`, at whose end it wants to be called; steps before are not held up.
  virtual std::int64_t pause_after(std::int64_t /*step*/) const {
    return std::numeric_limits<std::int64_t>::max();
  }

  /// Before the first step; forgets an earlier run. A resumed run calls load() next. Throws Error when the
  /// run has not what it needs.
  virtual void start(Run&) {}
  virtual void epoch_start(Run&) {}
  /// Between two chunks of steps: at the steps that pause_after() named, at the end of an epoch before its
  /// record, and about twenty times a second.
  virtual void step(Run&) {}
  /// Before the record of an epoch is seen by anybody: the place to add to EpochRecord::extra.
  virtual void measure(Run&, EpochRecord&) {}
  virtual void epoch(Run&, const EpochRecord&) {}
  /// The loss was lost; the states are the last good ones. True: it has put the run where it can go on.
  virtual bool recover(Run&, const NonFinite&) { return false; }
  /// No more steps come. Where that is inside an epoch, its record comes after this call.
  virtual void end(Run&) {}
  /// After all end(): the last chance to put other weights into the model.
  virtual void weights(Run&) {}

  /// Bytes that it comes to hold, in a run with so many bytes of parameters and of states.
  virtual std::size_t holds(std::size_t /*parameters*/, std::size_t /*states*/) const { return 0; }

  virtual Saved save() const { return {}; }
  virtual void load(Run&, const Saved&) {}
};

}  // namespace tightloop::train
