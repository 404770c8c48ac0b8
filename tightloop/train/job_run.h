// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/forward_model.h>
#include <tightloop/train/load.h>
#include <tightloop/train/run_directory.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

/// A job made ready: its data read, its model made and given its first weights.
struct PreparedJob {
  Job job;
  LoadedData data;
  std::unique_ptr<ForwardModel> model;
  nn::LossFn loss;
  std::unique_ptr<optim::Optimizer> optimizer;
  Metrics metrics;
  std::vector<std::string> metric_names;
  TrainerOptions options;
  std::vector<std::string> notes;  ///< what the user should know, such as weights that were left out
  std::string memory;              ///< how it keeps within train.memory, in one line; "": no limit
  double reading_s = 0;            ///< how long its data took to read
  std::size_t resident = 0;        ///< bytes of the process in memory before that
};

/// Throws Error for everything that can be known before the first step but what compiling the step finds. Of
/// a job that asks for each fold in turn it is the first one's. `data`: the job's, when they were read
/// before.
PreparedJob prepare(const Job& job, Observer* observer = nullptr, std::optional<LoadedData> data = {});

/// Trains and writes the run directory, and a page about the run unless the job has output.report = false;
/// that the page cannot be made is noted and ends no run. `resume` "last", "best" or a path: goes on from
/// that checkpoint of the directory, and tells the observer what the job has changed. When the observer ends
/// the run, a checkpoint to go on from is written too. When the loss is lost, the last good weights are
/// written before the NonFinite goes on its way; when it is lost in the first step, nothing is.
History run_job(PreparedJob& prepared, const std::string& directory, Observer* observer,
                const std::string& resume = "");

/// One step of training and one batch of the validation rows, to see whether a job works; writes nothing.
History try_job(PreparedJob& prepared, Observer* observer);

/// False for an optimizer whose run has no checkpoints (lbfgs).
bool can_resume(const Job& job);

/// A trained model read back for evaluate and predict.
struct TrainedModel {
  SavedRun run;
  std::unique_ptr<ForwardModel> model;
  nn::LossFn loss;
  nn::TargetKind target;
  Metrics metrics;
  std::vector<std::string> metric_names;
  TrainerOptions options;
};

/// All but the model, which needs the types of its inputs.
TrainedModel read_trained(const std::string& run);
/// Makes the model for inputs typed as those of `data` and loads its weights.
void make_model(TrainedModel& trained, const DataPart& part);

}  // namespace tightloop::train
