// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/run.h>

namespace tightloop::train {

struct EmaOptions {
  double decay = 0.999;
  bool evaluate = true;  ///< evaluations and the model at the end have the averages
};

/// Exponential moving averages of parameters and floating buffers, from their values at the start:
/// average ← decay · average + (1 - decay) · value, once a step and inside the compiled step.
class Ema final : public Callback {
 public:
  /// Throws Error unless 0 < decay < 1.
  explicit Ema(EmaOptions options = {});
  std::string_view name() const override { return "ema"; }
  void prepare(UpdateOptions& update) const override;
  void weights(Run& run) override;

 private:
  EmaOptions options_;
};

}  // namespace tightloop::train
