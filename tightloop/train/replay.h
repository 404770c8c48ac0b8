// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step of a run again, looked at from all sides.
#include <tightloop/train/diagnose.h>
#include <tightloop/train/trainer.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::train {

/// What a step did to one parameter. Lengths are Euclidean.
struct ParameterStep {
  std::string path;
  std::int64_t count = 0;  ///< elements
  double norm = 0;         ///< before the step
  double gradient = 0;     ///< of the batch's loss, before accumulation and clipping
  double update = 0;       ///< after - before
};

struct ReplayedStep {
  std::int64_t step = 0;                ///< from 0
  std::int64_t epoch = 0;               ///< from 1
  std::int64_t from = 0;                ///< the step from which the run was gone through
  std::string checkpoint = {};          ///< that it began with; "": the start
  std::vector<std::int64_t> rows = {};  ///< of the batch, from 0; of windows their first rows
  std::vector<std::string> names = {};  ///< of a stream's samples
  double loss = 0;
  double lr = 0;
  double gradient_norm = 0;  ///< of all gradients together
  std::vector<ParameterStep> parameters = {};
  Origin origin = {};                         ///< the first value that is not finite, where there is one
  std::string broken_rule = {};               ///< that the batch's data break; "": none
  std::optional<Difference> difference = {};  ///< from the interpreter, when it was asked
  std::vector<std::pair<std::string, Array>> states = {};  ///< all states after the step
};

/// Trains by `options`, callbacks included, from options.resume or the start, up to step `step`, does that
/// step and returns; the model is then as the step left it. `verify`: runs it beside the interpreter. Throws
/// Error when the run ends before that step.
ReplayedStep replay(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                    const TrainingData& data, const TrainerOptions& options, const Metrics& metrics,
                    std::int64_t step, bool verify = false);

/// The same for the run of a job in the folder `run`, from its newest checkpoint at or before the step, or
/// from the start. The folder stays as it is. Throws Error naming what lacks.
ReplayedStep replay_run(const std::string& run, std::int64_t step, bool verify = false,
                        Observer* observer = nullptr);

}  // namespace tightloop::train
