// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/callbacks/monitor.h>

namespace tightloop::train {

/// Moves the rate of schedule reduce_on_plateau after each epoch; fit() adds it.
class ReduceOnPlateau final : public Callback {
 public:
  ReduceOnPlateau(const optim::PlateauOptions& options, std::string metric)
      : plateau_(options, 1), options_(options), monitor_(std::move(metric), options.mode) {}
  std::string_view name() const override { return "reduce_on_plateau"; }
  void check(const RunFacts& facts) const override { monitor_.check(facts, "schedule reduce_on_plateau"); }
  void start(Run& run) override;
  void epoch(Run& run, const EpochRecord& record) override;
  Saved save() const override;
  void load(Run& run, const Saved& saved) override;

 private:
  optim::Plateau plateau_;
  optim::PlateauOptions options_;
  Monitor monitor_;
};

}  // namespace tightloop::train
