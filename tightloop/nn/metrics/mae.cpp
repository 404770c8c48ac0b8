// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses/loss.h>
#include <tightloop/nn/metrics/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn::metrics {
namespace {

class Mae final : public MeanMetric {
  Part part(const Tensor& prediction, const Tensor& target) const override {
    const Tensor t = aligned_target("mae", prediction, target);
    const Tensor error = cast(prediction, DType::f64) - cast(t, DType::f64);
    return {sum(abs(error)), size(prediction.shape().count(), DType::f64)};
  }
};

std::unique_ptr<Metric> build(const Options&) { return std::make_unique<Mae>(); }

}  // namespace

const MetricDef& mae_def() {
  static const MetricDef def{"mae", "mean absolute error", false, {}, build};
  return def;
}

}  // namespace tightloop::nn::metrics
