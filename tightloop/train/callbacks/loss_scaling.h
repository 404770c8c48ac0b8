// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/callback.h>

namespace tightloop::train {

/// Shows what loss scaling did: the scale at the end of each epoch and the updates that were skipped in it,
/// and their number in the whole run; fit() adds it.
class LossScaling final : public Callback {
 public:
  std::string_view name() const override { return "loss_scale"; }
  std::vector<std::string> measures() const override { return {"loss_scale", "skipped_updates"}; }
  void measure(Run& run, EpochRecord& record) override;
  void end(Run& run) override;
};

}  // namespace tightloop::train
