// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/lbfgs.h>
#include <tightloop/train/trainer.h>

namespace tightloop::train {

/// Trainer::fit for L-BFGS: an epoch is one step of an LbfgsSearch for the average loss over all training
/// rows. Steps are counted in iterations, and the batch is only how many rows are computed at once. Ends
/// early when a tolerance is reached. Throws NonFinite when the loss is lost; the model then holds the last
/// good weights.
History fit_whole(const Model& model, const nn::LossFn& loss, const optim::Lbfgs& optimizer,
                  const TrainingData& data, const TrainerOptions& options, const Metrics& metrics);
/// Throws Error when the search cannot go through such data.
void check_whole(const TrainingData& data);

}  // namespace tightloop::train
