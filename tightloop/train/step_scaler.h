// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/step_builder.h>

#include <cstdint>
#include <vector>

namespace tightloop::train {

/// Loss scaling in a training step: the scale and what follows from gradients that are not finite, as states
/// of the graph. Without active scaling it leaves everything as it is.
class StepScaler {
 public:
  StepScaler(StepBuilder& builder, const optim::LossScale& rule);

  /// The loss to differentiate.
  Tensor scaled(const Tensor& loss) const;
  /// The gradients of the loss itself.
  std::vector<Tensor> unscaled(std::vector<Tensor> gradients) const;
  /// Moves the scale in steps where `ends` is true (empty: in all), by whether the update's gradients are
  /// finite. bool[]: the step changes parameters and what belongs to them; empty: every step does.
  Tensor decide(const std::vector<Tensor>& gradients, const Tensor& ends);
  /// After decide(). i64[]: updates from number `since` on that were skipped before update `update` (i64[]);
  /// empty: none ever is.
  Tensor skipped(const Tensor& update, std::int64_t since);

 private:
  StepBuilder& builder_;
  optim::LossScale rule_;
  optim::ScalerState state_;
  Tensor skips_;  ///< bool[]: this step's update is skipped
};

}  // namespace tightloop::train
