// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/run.h>

#include <string>
#include <vector>

namespace tightloop::train {

struct RunMonitorOptions {
  bool rate = true;           ///< lr_<pattern> of each parameter group; momentum, where a schedule moves it
  bool throughput = true;     ///< steps_per_s and step_share: the share of the time that steps took
  bool gradient_norm = true;  ///< gradient_norm, the mean over the epoch's updates, and gradient_norm_max
};

/// Adds to the records of epochs what the run is doing, see EpochRecord::extra. The norm is that of all
/// gradients together, before any clipping, made in the compiled step.
class RunMonitor final : public Callback {
 public:
  explicit RunMonitor(RunMonitorOptions options = {}) : options_(options) {}
  std::string_view name() const override { return "monitor"; }
  std::vector<std::string> measures() const override;
  void prepare(UpdateOptions& update) const override { update.gradient_norm = options_.gradient_norm; }
  void start(Run& run) override;
  void epoch_start(Run& run) override;
  void step(Run& run) override;
  void measure(Run& run, EpochRecord& record) override;
  Saved save() const override;
  void load(Run& run, const Saved& saved) override;

 private:
  void add_rates(Run& run, EpochRecord& record) const;
  void add_throughput(Run& run, EpochRecord& record);

  RunMonitorOptions options_;
  bool begun_ =
      false;  ///< the epoch's clock runs: not in an epoch that a resume goes on with, until its first chunk
  std::int64_t step_ = 0;
  double seconds_ = 0, waited_ = 0;
  double momentum_ = 0;  ///< of the last step; NaN: none moves
};

}  // namespace tightloop::train
