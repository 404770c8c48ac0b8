// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/trainer.h>

namespace tightloop::train {

/// What Trainer::fit() does with an update rule: steps in chunks that end where epochs and callbacks want it.
/// Parameters have their values.
History fit_steps(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                  const TrainingData& data, const TrainerOptions& options, const Metrics& metrics);
/// Throws Error for what fit_steps() would refuse before its first step; changes nothing.
void check_steps(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                 const TrainingData& data, const TrainerOptions& options, const Metrics& metrics);

}  // namespace tightloop::train
