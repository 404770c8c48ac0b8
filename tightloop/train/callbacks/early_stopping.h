// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/callbacks/monitor.h>

namespace tightloop::train {

struct EarlyStoppingOptions {
  std::string monitor = "";  ///< "": the validation loss, or the training loss without validation
  std::optional<optim::Direction> mode = {};  ///< none: as the metric is
  std::int64_t patience = 3;                  ///< evaluated epochs without an improvement that end the run
  double min_delta = 0;                       ///< an improvement is more than this
  /// The model ends with the weights of the best epoch, also after a full run; but with the averages where
  /// Swa has made some.
  bool restore_best = true;
};

/// Ends a run when a metric has stopped getting better. NaN is no improvement.
class EarlyStopping final : public Callback {
 public:
  /// Throws Error for a patience below 1 and a min_delta below 0.
  explicit EarlyStopping(EarlyStoppingOptions options = {});
  std::string_view name() const override { return "early_stopping"; }
  void check(const RunFacts& facts) const override { monitor_.check(facts, "early_stopping"); }
  void start(Run& run) override;
  void epoch(Run& run, const EpochRecord& record) override;
  void weights(Run& run) override;
  Saved save() const override;
  void load(Run& run, const Saved& saved) override;

  std::int64_t best_epoch() const { return best_epoch_; }  ///< from 1; 0: none
  double best() const { return monitor_.best(); }

 private:
  void keep(Run& run);
  void give_up(Run& run);

  EarlyStoppingOptions options_;
  Monitor monitor_;
  std::int64_t waited_ = 0;
  std::int64_t best_epoch_ = 0;
  Saved best_weights_;
};

}  // namespace tightloop::train
