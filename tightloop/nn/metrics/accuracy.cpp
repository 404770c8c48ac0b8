// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses/class_target.h>
#include <tightloop/nn/metrics/class_rows.h>
#include <tightloop/nn/metrics/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn::metrics {
namespace {

/// One yes-or-no output a row: [B] or [B, 1].
bool is_binary(const Tensor& prediction) {
  return prediction.rank() == 1 || (prediction.rank() == 2 && prediction.dim(1).is(1));
}

class Accuracy final : public MeanMetric {
 public:
  Accuracy(double threshold, std::optional<std::int64_t> ignore_index)
      : threshold_(threshold), ignore_index_(ignore_index) {}

 private:
  Part part(const Tensor& prediction, const Tensor& target) const override {
    if (is_binary(prediction)) return binary(prediction, target);
    const ClassRows rows = class_rows("accuracy", prediction, target, ignore_index_);
    const Tensor hit =
        logical_and(argmax(rows.scores, -1) == rows.target, logical_not(any(is_nan(rows.scores), {-1})));
    return {hits(hit, rows), counted(rows)};
  }

  Part binary(const Tensor& prediction, const Tensor& target) const {
    const Tensor t = aligned_target("accuracy", prediction, target);
    const Tensor yes = t > 0.5;
    const Tensor hit = logical_or(logical_and(yes, prediction > threshold_),
                                  logical_and(logical_not(yes), prediction <= threshold_));
    return {sum(cast(hit, DType::f64)), size(prediction.shape().count(), DType::f64)};
  }

  double threshold_;
  std::optional<std::int64_t> ignore_index_;
};

std::unique_ptr<Metric> build(const Options& o) {
  return std::make_unique<Accuracy>(o.at<double>("threshold"), ignore_option(o));
}

}  // namespace

const MetricDef& accuracy_def() {
  static const MetricDef def{
      "accuracy",
      "share of rows whose largest score is the target class; NaN scores miss",
      true,
      {{"threshold", OptionType::number, 0.0,
        "one output a row: yes above this (0 for logits, 0.5 for probabilities)"},
       {"ignore_index", OptionType::integer, {}, "target value that marks rows to leave out"}},
      build};
  return def;
}

}  // namespace tightloop::nn::metrics
