// SPDX-License-Identifier: Apache-2.0
#pragma once
// The graphs that a run is made of. Rows of the resident data → gather → cast, normalise → model → loss →
// gradients → update rule, all in one graph; evaluation and prediction are graphs without a backward.
#include <tightloop/data/dataset.h>
#include <tightloop/data/normalize.h>
#include <tightloop/data/transforms/transform.h>
#include <tightloop/data/window.h>
#include <tightloop/ir/graph.h>
#include <tightloop/nn/context.h>
#include <tightloop/nn/losses/loss.h>
#include <tightloop/nn/metrics/metric.h>
#include <tightloop/optim/optimizer.h>
#include <tightloop/train/model.h>
#include <tightloop/train/updates.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

/// What a step reads of the data: fields of a data set in its order, and how they are seen. walked() fills in
/// what a part of the data decides.
struct DataSpec {
  struct Field {
    std::string name;
    TensorType type;  ///< [N, ...]
  };
  std::vector<Field> inputs;
  std::vector<Field> target;  ///< one; none when only predicting
  std::vector<data::FieldScale> scales;
  /// The rows of a batch follow each other: no shuffling, no subset. Then they are read without a list of
  /// them.
  bool in_order = false;
  std::optional<data::Window> window = {};  ///< a row stands for the rows of a window from it on
  data::Transforms transforms = {};
  /// The same row may come twice in an epoch: what is drawn for it depends on its place in the epoch's order.
  bool repeats = false;
  Array partners = {};  ///< i64[n]: the rows that may be mixed in; empty: all
  /// The data are one batch, in order, and the field kSampleField has the numbers of its samples.
  bool streamed = false;

  /// Inputs and target of `data`; `target` empty: the last field.
  static DataSpec of(const data::Dataset& data, const std::string& target = "",
                     std::vector<data::FieldScale> scales = {});
};

/// The field of a stream with the number of each sample in the whole data: i64[N].
inline constexpr const char* kSampleField = "stream.sample";

/// The name of a data field as a graph input.
std::string data_name(const std::string& field);

using Metrics = std::vector<std::shared_ptr<const nn::Metric>>;

/// A graph, and the rules about the data that it checks: state `check.<i>.row` is the row of the data that
/// first broke rule i, or -1, and `check.<i>.value` what was found there.
struct StepGraph {
  ir::Graph graph;
  std::vector<nn::Check> checks;
  std::vector<std::string> parameters;  ///< paths of those that it reads, and of buffers
  TensorType prediction;
  bool training = false;  ///< what is random in a stream's samples differs from epoch to epoch
};

/// The input that holds the batch's first row, where rows are read in order; no parameter has this name.
inline constexpr const char* kFirstRow = "batch.first";

// States of a training or evaluation graph beside parameters, slots, checks and metrics.
inline constexpr const char* kLossSum = "train.loss_sum";      ///< f64[]: Σ LossValue::total
inline constexpr const char* kWeightSum = "train.weight_sum";  ///< f64[]: Σ LossValue::weight
inline constexpr const char* kBadStep =
    "train.bad_step";  ///< i64[]: first step with a loss that is not finite, or -1

inline constexpr const char* kGradientSum =
    "train.gradient.";  ///< and the path: f64 like the parameter, Σ gradient of LossValue::total

inline constexpr const char* kAccumulatedWeight =
    "train.accumulated_weight";  ///< f64[], of the update so far
inline constexpr const char* kAccumulated =
    "train.accumulated.";  ///< and the path: like the parameter, the weighted gradients of the update so far

std::string gradient_state(const std::string& path);
/// Name of state `state` of metric `index`.
std::string metric_state(std::size_t index, const std::string& state);

/// One training step; result `loss`. With optim::Lbfgs, which needs the loss over all rows, a step changes no
/// parameter and adds its batch's gradient to the gradient states. Throws Error when model, loss and data do
/// not fit, or nothing can be trained.
StepGraph training_step(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                        const DataSpec& data, const UpdateOptions& options = {},
                        const RunLength& length = {});
/// The gradients that such a step begins with: results `loss`, and gradient_state(path) of each parameter
/// that is trained, like the parameter: of the batch's own loss, before accumulation and clipping. The same
/// numbers are drawn as in the training step.
StepGraph gradient_step(const Model& model, const nn::LossFn& loss, const DataSpec& data);
/// Accumulates loss and metrics of a batch; nothing else changes.
StepGraph evaluation_step(const Model& model, const nn::LossFn& loss, const Metrics& metrics,
                          const DataSpec& data);
/// Moves the buffers as a training step does, and nothing else: running statistics for given weights.
StepGraph statistics_step(const Model& model, const DataSpec& data);
/// Result `prediction` of a batch.
StepGraph prediction_step(const Model& model, const DataSpec& data);

/// What is to be known of a batch's rows, by name: values of a prediction and its target.
using RowsFn = std::function<std::vector<ir::Graph::Output>(const Tensor& prediction, const Tensor& target)>;
/// Results `look(prediction, target)` of a batch.
StepGraph comparison_step(const Model& model, const RowsFn& look, const DataSpec& data);

}  // namespace tightloop::train
