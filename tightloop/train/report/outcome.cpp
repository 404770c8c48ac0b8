// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses/loss.h>
#include <tightloop/nn/metrics/class_rows.h>
#include <tightloop/ops/functions.h>
#include <tightloop/train/choice.h>
#include <tightloop/train/report/outcome.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <numeric>

namespace tightloop::train {
namespace {

constexpr const char* kTruth = "truth";
constexpr const char* kPredicted = "predicted";
constexpr std::int64_t kPoints = 4000;  // of an output, to be drawn
constexpr std::int64_t kOutputs = 16;   // more are taken together

enum class Reading : std::uint8_t { none, classes, yes_or_no, values };

/// Where the prediction and the target of a loss are compared.
struct Comparison {
  Reading reading = Reading::none;
  std::int64_t classes = 0;
  std::int64_t outputs = 0;  ///< values a row
};

/// `loss`: its options resolved.
std::optional<std::int64_t> ignored(const Options& options) {
  if (!options.has("ignore_index")) return {};
  return options.at<std::int64_t>("ignore_index");
}

std::vector<ir::Graph::Output> class_values(const Choice& loss, const Options& options,
                                            const Tensor& prediction, const Tensor& target) {
  const nn::ClassRows rows = nn::class_rows(loss.name, prediction, target, ignored(options));
  const Tensor truth =
      rows.kept.defined() ? select(rows.kept, rows.target, scalar(-1, DType::i64)) : rows.target;
  return {{kTruth, truth}, {kPredicted, argmax(rows.scores, -1)}};
}

/// The mean that the prediction stands for.
Tensor mean_of(const Choice& loss, const Options& options, const Tensor& prediction) {
  if (loss.name == "poisson_nll" && options.at<bool>("log_input")) return exp(prediction);
  if (loss.name != "gaussian_nll") return prediction;
  return slice(prediction, -1, 0, prediction.dim(prediction.rank() - 1).factor / 2);
}

bool is_one_score(const TensorType& prediction) {
  const Shape& s = prediction.shape;
  return s.rank() == 1 || (s.rank() == 2 && s[1].is(1));
}

Reading reading_of(const nn::LossDef& loss, const TensorType& prediction) {
  if (loss.target != nn::TargetKind::values) return Reading::classes;
  if (loss.name.starts_with("bce")) return is_one_score(prediction) ? Reading::yes_or_no : Reading::none;
  constexpr std::array<std::string_view, 6> values{"mse",       "l1",          "huber",
                                                   "smooth_l1", "poisson_nll", "gaussian_nll"};
  return std::find(values.begin(), values.end(), loss.name) != values.end() ? Reading::values : Reading::none;
}

/// The graph's part, which finds out what is compared.
std::vector<ir::Graph::Output> look(const Choice& loss, Comparison& found, const Tensor& prediction,
                                    const Tensor& target) {
  const nn::LossDef& def = *nn::find_loss(loss.name);
  const Options options = resolve(loss.name, to_options(loss.options), def.options);
  found.reading = reading_of(def, prediction.type());
  if (found.reading == Reading::classes) {
    const Dim& classes = prediction.dim(std::min<std::size_t>(1, prediction.rank() - 1));
    if (!classes.is_static()) return found.reading = Reading::none, std::vector<ir::Graph::Output>{};
    found.classes = classes.factor;
    return class_values(loss, options, prediction, target);
  }
  if (found.reading == Reading::none) return {};
  const Tensor mean = mean_of(loss, options, prediction);
  const Tensor truth = nn::aligned_target(loss.name, mean, target);
  if (found.reading == Reading::yes_or_no) {
    found.classes = 2;
    const double threshold = loss.name == "bce" ? 0.5 : 0;
    return {{kTruth, cast(truth > 0.5, DType::i64)}, {kPredicted, cast(mean > threshold, DType::i64)}};
  }
  found.outputs = 1;
  for (std::size_t i = 1; i < mean.rank(); ++i) found.outputs *= mean.dim(i).factor;
  return {{kTruth, truth}, {kPredicted, mean}};
}

/// Every n-th row, so that at most `most` are left.
DataPart here_and_there(DataPart part, std::int64_t most) {
  const std::int64_t count = part.count();
  if (most <= 0 || count <= most) return part;
  if (part.rows.empty()) {
    part.rows.resize(static_cast<std::size_t>(count));
    std::iota(part.rows.begin(), part.rows.end(), std::int64_t{0});
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < most; ++i)
    rows.push_back(part.rows[static_cast<std::size_t>(i * count / most)]);
  part.rows = std::move(rows);
  return part;
}

std::vector<Residuals> residuals_of(const std::string& name, std::int64_t outputs, std::int64_t rows) {
  const bool together = outputs > kOutputs;
  const std::int64_t values = together ? rows * outputs : rows;
  const std::int64_t every = std::max<std::int64_t>(1, (values + kPoints - 1) / kPoints);
  std::vector<Residuals> out;
  for (std::int64_t i = 0; i < (together ? 1 : outputs); ++i)
    out.emplace_back(outputs == 1 || together ? name : fmt::format("{}[{}]", name, i), every);
  return out;
}

void add(Outcome& out, const Comparison& c, const Array& truth, const Array& predicted) {
  if (out.classes) {
    for (std::int64_t i = 0; i < truth.count(); ++i) out.classes->add(truth.int_at(i), predicted.int_at(i));
    return;
  }
  const auto outputs = static_cast<std::int64_t>(out.outputs.size());
  for (std::int64_t i = 0; i < truth.count(); ++i)
    out.outputs[static_cast<std::size_t>(outputs == c.outputs ? i % outputs : 0)].add(truth.at(i),
                                                                                      predicted.at(i));
}

}  // namespace

Outcome outcome_of(const Model& model, const Choice& loss, const DataSpec& data, const DataPart& given,
                   const OutcomeOptions& options) {
  Outcome out{options.rows_name, 0, given.count()};
  if (nn::find_loss(loss.name) == nullptr) return out;
  const DataPart part = here_and_there(given, options.most_rows);
  Comparison found;
  StepGraph step = comparison_step(
      model,
      [&](const Tensor& prediction, const Tensor& target) { return look(loss, found, prediction, target); },
      walked(data, part));
  if (found.reading == Reading::none) return out;
  if (found.classes > 0) out.classes.emplace(found.classes, options.classes);
  if (found.outputs > 0) out.outputs = residuals_of(data.target[0].name, found.outputs, part.count());
  compare_all(model, std::move(step), part, options.batch, options.compile,
              [&](Program& program) { add(out, found, program.result(kTruth), program.result(kPredicted)); });
  out.rows = part.count();
  return out;
}

}  // namespace tightloop::train
