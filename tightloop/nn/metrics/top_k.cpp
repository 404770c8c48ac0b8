// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses/class_target.h>
#include <tightloop/nn/metrics/class_rows.h>
#include <tightloop/nn/metrics/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn::metrics {
namespace {

class TopK final : public MeanMetric {
 public:
  TopK(std::int64_t k, std::optional<std::int64_t> ignore_index) : k_(k), ignore_index_(ignore_index) {
    if (k < 1) throw Error(fmt::format("metric top_k: k must be 1 or greater, got {}", k));
  }

 private:
  /// A row hits when fewer than k classes come before its target: those of a larger score, and of an equal
  /// one and a smaller index. A row with NaN misses.
  Part part(const Tensor& prediction, const Tensor& target) const override {
    const ClassRows rows = class_rows("top_k", prediction, target, ignore_index_);
    const Tensor own = unsqueeze(take_last(rows.scores, rows.target), -1);
    const Tensor classes = iota(rows.scores.shape(), static_cast<std::int64_t>(rows.scores.rank()) - 1);
    const Tensor before =
        logical_or(rows.scores > own, logical_and(rows.scores == own, classes < unsqueeze(rows.target, -1)));
    const Tensor rank = sum(cast(before, DType::i32), {-1});
    const Tensor hit =
        logical_and(rank < static_cast<double>(k_), logical_not(any(is_nan(rows.scores), {-1})));
    return {hits(hit, rows), counted(rows)};
  }

  std::int64_t k_;
  std::optional<std::int64_t> ignore_index_;
};

std::unique_ptr<Metric> build(const Options& o) {
  return std::make_unique<TopK>(o.at<std::int64_t>("k"), ignore_option(o));
}

}  // namespace

const MetricDef& top_k_def() {
  static const MetricDef def{
      "top_k",
      "share of rows whose target is among the k largest scores",
      true,
      {{"k", OptionType::integer, std::int64_t{5}},
       {"ignore_index", OptionType::integer, {}, "target value that marks rows to leave out"}},
      build};
  return def;
}

}  // namespace tightloop::nn::metrics
