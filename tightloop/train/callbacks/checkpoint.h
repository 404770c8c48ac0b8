// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/callbacks/monitor.h>

#include <functional>
#include <map>

namespace tightloop::train {

struct CheckpointOptions {
  std::string directory = "checkpoints";
  std::int64_t every_epochs = 0;  ///< 0: not by epochs
  std::int64_t every_steps = 0;   ///< 0: not by steps
  double every_minutes = 0;       ///< 0: not by time
  std::int64_t keep = 1;          ///< newest files that stay; 0: all
  bool best = false;              ///< also best.safetensors, of the epoch whose metric is the best so far
  std::string monitor = "";       ///< "": the validation loss, or the training loss
  std::optional<optim::Direction> mode = {};
  bool at_end = true;                                ///< one when the run ends
  bool on_stop = true;                               ///< one when the observer ends the run
  std::map<std::string, std::string> metadata = {};  ///< what else to keep, by key
  std::function<void()> first = {};                  ///< called before the first file is written
};

/// Writes checkpoints from which a run goes on bit for bit; on a thread of its own, while training goes on. A
/// copy of the best epoch's states is taken when it ends, and written when the one before was written a
/// second ago or more, and at the end: small nets have thousands of epochs a second, each better than the
/// last.
class CheckpointFiles final : public Callback {
 public:
  /// Throws Error for numbers out of range.
  explicit CheckpointFiles(CheckpointOptions options = {});
  std::string_view name() const override { return "checkpoint"; }
  CheckpointOptions& options() { return options_; }

  std::int64_t pause_after(std::int64_t step) const override;
  void check(const RunFacts& facts) const override { monitor_.check(facts, "checkpoint"); }
  void start(Run& run) override;
  void step(Run& run) override;
  void epoch(Run& run, const EpochRecord& record) override;
  bool recover(Run& run, const NonFinite& e) override;
  void end(Run& run) override;
  void weights(Run& run) override;
  /// The copy that is being written.
  std::size_t holds(std::size_t /*parameters*/, std::size_t states) const override {
    return options_.at_end || options_.best || options_.every_epochs > 0 || options_.every_steps > 0 ||
                   options_.every_minutes > 0
               ? states
               : 0;
  }
  Saved save() const override;
  void load(Run& run, const Saved& saved) override;

 private:
  void begin();
  void fail(const Run& run, const Error& e);
  void finish(const Run& run);
  void write(Run& run, std::optional<Checkpoint> given, const std::string& name, bool rotate);
  void write_step(Run& run);
  void keep_best(Run& run);
  void write_best(Run& run);
  bool may_write_best(const Run& run) const;
  void forget_later() const;
  void rotate() const;

  CheckpointOptions options_;
  Monitor monitor_;
  CheckpointWriter writer_;
  std::int64_t written_ = -1;  ///< step of the newest file
  std::int64_t resumed_at_ = -1;
  double written_at_ = 0;        ///< seconds of the run
  Checkpoint best_;              ///< of the best epoch, without the history
  std::size_t best_epochs_ = 0;  ///< records of its history; 0: it is written
  double best_written_at_ = 0;
  std::string failure_;  ///< of the last file; "": it was written
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace tightloop::train
