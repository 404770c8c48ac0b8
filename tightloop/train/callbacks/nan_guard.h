// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/run.h>

#include <vector>

namespace tightloop::train {

struct NanGuardOptions {
  double factor = 0.5;             ///< of the rate, each time
  std::int64_t max_rollbacks = 3;  ///< in the whole run
};

/// When the loss is lost, puts the run back to the start of the epoch and goes on with a smaller rate,
/// instead of ending it. Holds one copy of all states.
class NanGuard final : public Callback {
 public:
  /// Throws Error unless 0 < factor < 1 and max_rollbacks ≥ 1.
  explicit NanGuard(NanGuardOptions options = {});
  std::string_view name() const override { return "nan_guard"; }
  void prepare(UpdateOptions& update) const override { update.scaled_rate = true; }
  void start(Run& run) override;
  void epoch_start(Run& run) override;
  bool recover(Run& run, const NonFinite& e) override;
  Saved save() const override;
  void load(Run& run, const Saved& saved) override;

 private:
  NanGuardOptions options_;
  std::int64_t rollbacks_ = 0;
  std::int64_t step_ = 0;
  std::vector<Array> good_;
};

}  // namespace tightloop::train
