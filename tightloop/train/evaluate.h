// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/bound_step.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tightloop::train {

struct Evaluation {
  double loss = 0;                        ///< weighted over all rows: the same for every batch size
  std::vector<double> metrics;            ///< in the order of the Metrics
  std::vector<std::string> skipped = {};  ///< by Trainer::evaluate(): samples of a stream that were left out
};

/// Finds the memory of a parameter or buffer by its path.
using ParameterLookup = std::function<Array(const std::string& path)>;
/// Parameters and buffers as the model holds them.
ParameterLookup parameters_of(const Model& model);

/// The evaluation of one part of the data, compiled once.
class Evaluator {
 public:
  /// `part` must outlive it; `parameters` is read in place, so an evaluation sees the training's present
  /// weights.
  Evaluator(const Model& model, const nn::LossFn& loss, Metrics metrics, const DataSpec& data,
            const DataPart& part, std::int64_t batch, const ParameterLookup& parameters,
            const CompileOptions& options);
  /// Reads other memory from now on.
  void bind(const ParameterLookup& parameters);
  /// Throws Error for data that breaks a rule.
  Evaluation run();
  /// Runs the first `batches` alone, to see whether the data fit. Throws Error for those that break a rule.
  void check(std::int64_t batches);

  const BoundStep& bound() const { return bound_; }
  const Sampling& sampling() const { return sampling_; }

 private:
  Metrics metrics_;
  BoundStep bound_;
  Sampling sampling_;
};

/// The predictions of all rows of `part`: [rows, ...]. Where `skipped` is given, samples of a stream that the
/// part's loader may leave out have NaN in their place, and are listed there by number with what was wrong.
Array predict_all(const Model& model, const DataSpec& data, const DataPart& part, std::int64_t batch,
                  const CompileOptions& options, std::map<std::int64_t, std::string>* skipped = nullptr);

/// Calls `see` after each batch of `part`, where the results of `step`, a comparison_step(), can be read from
/// the program.
void compare_all(const Model& model, StepGraph step, const DataPart& part, std::int64_t batch,
                 const CompileOptions& options, const std::function<void(Program&)>& see);

}  // namespace tightloop::train
