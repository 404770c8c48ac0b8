// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/losses/loss.h>
#include <tightloop/train/job.h>
#include <tightloop/train/trainer.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::train {

/// How the validation rows were chosen; kept with the run.
struct SplitRecord {
  std::string kind = "none";  ///< none, fraction, file
  double fraction = 0;
  std::int64_t rows = 0;                 ///< of the training file
  std::vector<std::int64_t> validation;  ///< rows held back, from 0
};

/// A job's data in memory. The target is the last field.
struct LoadedData {
  TrainingData data;
  SplitRecord split;
  std::vector<std::string> classes;  ///< names of the classes when the target column holds text
  /// What became of columns that hold more than numbers, with the values of the training rows: the job's
  /// data.columns when it is run again, or other data are read.
  std::vector<data::ColumnRule> columns = {};

  /// Types of the inputs as the model gets them: [B, ...].
  std::vector<std::pair<std::string, TensorType>> model_inputs() const;
};

/// Reads training and validation data and fits the normalisation on the training part. Throws Error naming
/// file, row and column; a target that does not fit `target` (class numbers or values) is refused.
LoadedData load_data(const Job& job, nn::TargetKind target);

/// Other data for a trained model, with the fields of the job: `sources` is one file or folder as data.train,
/// or texts "name=file". `with_target` false: the inputs alone.
data::Dataset load_other(const Job& job, nn::TargetKind target, const std::vector<std::string>& sources,
                         const std::vector<std::string>& classes, bool with_target);

}  // namespace tightloop::train
