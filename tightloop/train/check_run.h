// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/run_facts.h>
#include <tightloop/train/trainer.h>

namespace tightloop::train {

RunFacts facts_of(const TrainerOptions& options, const optim::Optimizer& optimizer, const TrainingData& data);

/// Everything that can be known of a run before it is compiled: metrics that callbacks watch, averages that
/// exclude each other, patterns, what the optimizer cannot do. Trainer::fit() begins with it. Throws Error.
void check_run(const Model& model, const optim::Optimizer& optimizer, const TrainingData& data,
               const TrainerOptions& options);

struct PreparedJob;
/// The same for a job.
void check_run(const PreparedJob& prepared);

}  // namespace tightloop::train
