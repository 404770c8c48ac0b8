// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses/loss.h>
#include <tightloop/nn/metrics/index.h>
#include <tightloop/ops/functions.h>

#include <cmath>

namespace tightloop::nn::metrics {
namespace {

class Rmse final : public MeanMetric {
 public:
  double finish(std::span<const Array> states) const override {
    return std::sqrt(MeanMetric::finish(states));
  }

 private:
  Part part(const Tensor& prediction, const Tensor& target) const override {
    const Tensor t = aligned_target("rmse", prediction, target);
    const Tensor error = cast(prediction, DType::f64) - cast(t, DType::f64);
    return {sum(square(error)), size(prediction.shape().count(), DType::f64)};
  }
};

std::unique_ptr<Metric> build(const Options&) { return std::make_unique<Rmse>(); }

}  // namespace

const MetricDef& rmse_def() {
  static const MetricDef def{"rmse", "square root of the mean squared error", false, {}, build};
  return def;
}

}  // namespace tightloop::nn::metrics
