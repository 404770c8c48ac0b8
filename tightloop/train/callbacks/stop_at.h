// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/callbacks/monitor.h>

namespace tightloop::train {

struct StopAtOptions {
  double value = 0;
  std::string monitor = "";                   ///< "": the validation loss, or the training loss
  std::optional<optim::Direction> mode = {};  ///< none: as the metric is
};

/// Ends a run when a metric has reached a value.
class StopAt final : public Callback {
 public:
  /// Throws Error for NaN.
  explicit StopAt(StopAtOptions options);
  std::string_view name() const override { return "stop_at"; }
  void check(const RunFacts& facts) const override { monitor_.check(facts, "stop_at"); }
  void start(Run& run) override { monitor_.start(run.facts(), "stop_at"); }
  void epoch(Run& run, const EpochRecord& record) override;

 private:
  double value_;
  Monitor monitor_;
};

}  // namespace tightloop::train
