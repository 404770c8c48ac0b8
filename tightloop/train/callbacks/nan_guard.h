// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/run.h>

#include <vector>

namespace tightloop::train {

struct NanGuardOptions {
  double factor = 0.5;             ///< of the rate, each time; 1 leaves it
  std::int64_t max_rollbacks = 3;  ///< in the whole run
  bool stop = false;               ///< end the run instead, with the last good weights
  bool skip = false;               ///< leave out the batches up to the one that lost the loss
  std::int64_t every_steps = 0;    ///< states are kept so often; 0: at the start of each epoch
  SpikeRule spike = {};            ///< losses that count as lost although they are finite
};

/// When the loss is lost, puts the run back to the last states it kept, in memory, and goes on with a smaller
/// rate, doing the same batches again or leaving them out. Holds one copy of all states.
class NanGuard final : public Callback {
 public:
  /// Throws Error unless 0 < factor ≤ 1, max_rollbacks ≥ 1, every_steps ≥ 0, and a factor of 1 skips.
  explicit NanGuard(NanGuardOptions options = {});
  std::string_view name() const override { return "nan_guard"; }
  void prepare(UpdateOptions& update) const override;
  std::int64_t pause_after(std::int64_t step) const override;
  void start(Run& run) override;
  void epoch_start(Run& run) override;
  void step(Run& run) override;
  bool recover(Run& run, const NonFinite& e) override;
  Saved save() const override;
  void load(Run& run, const Saved& saved) override;

 private:
  void keep(Run& run);
  void cut(Run& run) const;

  NanGuardOptions options_;
  std::int64_t rollbacks_ = 0;
  std::int64_t step_ = 0;
  std::vector<Array> good_;
};

}  // namespace tightloop::train
