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
  std::string kind = "none";  ///< none, fraction, fold, file
  double fraction = 0;
  std::int64_t rows = 0;                 ///< of the training file
  std::vector<std::int64_t> validation;  ///< rows held back, from 0; of windows their first rows
  std::string method = {}, column = {};  ///< "": rows by chance
  std::int64_t seed = 0;
  std::int64_t folds = 0, fold = 0;
};

/// A job's data in memory. The target is the last field.
struct LoadedData {
  TrainingData data;
  SplitRecord split;
  std::vector<std::string> classes;  ///< names of the classes when the target column holds text
  /// What became of columns that hold more than numbers, with the values of the training rows: the job's
  /// data.columns when it is run again, or other data are read.
  std::vector<data::ColumnRule> columns = {};

  data::Transforms evaluation = {};     ///< what samples go through when they are evaluated
  std::vector<std::string> notes = {};  ///< what the user should know: files and samples left out

  /// Types of the inputs as the model gets them: [B, ...].
  std::vector<std::pair<std::string, TensorType>> model_inputs() const;
};

/// Reads training and validation data and fits the normalisation on the training part. Throws Error naming
/// file, row and column; a target that does not fit `target` (class numbers or values) is refused. Decoding
/// that takes longer is told to the observer, which may end it.
LoadedData load_data(const Job& job, nn::TargetKind target, Observer* observer = nullptr);

/// Other data for a trained model as it sees them, with the fields of the job: `sources` is one file or
/// folder as data.train, or texts "name=file". `with_target` false: the inputs alone.
DataPart load_other_part(const Job& job, nn::TargetKind target, const std::vector<std::string>& sources,
                         const std::vector<std::string>& classes, bool with_target);
/// The rows of such data, when they lie in memory.
data::Dataset load_other(const Job& job, nn::TargetKind target, const std::vector<std::string>& sources,
                         const std::vector<std::string>& classes, bool with_target);

/// What samples go through in validation, evaluation and prediction.
data::Transforms evaluation_transforms(const Job& job);
/// Data of load_other() as the trained model sees them: windows, and the transforms of evaluation.
DataPart other_part(const Job& job, const std::vector<std::string>& sources, data::Dataset data,
                    bool with_target);

}  // namespace tightloop::train
