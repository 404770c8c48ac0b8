// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses/loss.h>
#include <tightloop/nn/metrics/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <limits>

namespace tightloop::nn::metrics {
namespace {

std::vector<std::int64_t> output_dims(const Shape& prediction) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 1; i < prediction.rank(); ++i) {
    if (!prediction[i].is_static())
      throw Error(fmt::format("r2: only the first dim may be the batch, got {}", to_string(prediction)));
    out.push_back(prediction[i].factor);
  }
  return out;
}

/// Squares about the mean are merged batch by batch after Chan, Golub & LeVeque (1979), so that a large mean
/// costs no digits.
class R2 final : public Metric {
 public:
  std::vector<MetricState> states(const TensorType& prediction) const override {
    const auto dims = output_dims(prediction.shape);
    return {{"count"}, {"mean", dims}, {"spread", dims}, {"squares", dims}};
  }

  std::vector<Tensor> update(std::span<const Tensor> s, const Tensor& prediction,
                             const Tensor& target) const override {
    const Tensor t = cast(aligned_target("r2", prediction, target), DType::f64);
    const Tensor rows = row_count(prediction);
    const Tensor count = s[0] + rows;
    const Tensor batch_mean = sum(t, {0}) / rows;
    const Tensor spread = sum(square(t - unsqueeze(batch_mean, 0)), {0});
    const Tensor shift = batch_mean - s[1];
    const Tensor squares = sum(square(cast(prediction, DType::f64) - t), {0});
    return {count, s[1] + shift * (rows / count), s[2] + spread + square(shift) * (s[0] * rows / count),
            s[3] + squares};
  }

  double finish(std::span<const Array> s) const override {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (s[0].at(0) < 2) return nan;
    double total = 0;
    for (std::int64_t i = 0; i < s[2].count(); ++i) total += one_output(s[2].at(i), s[3].at(i));
    return total / static_cast<double>(s[2].count());
  }

 private:
  /// A constant target: 1 when met exactly, else 0 (scikit-learn's r2_score).
  static double one_output(double spread, double squares) {
    if (spread == 0) return squares == 0 ? 1 : 0;
    return 1 - squares / spread;
  }
};

std::unique_ptr<Metric> build(const Options&) { return std::make_unique<R2>(); }

}  // namespace

const MetricDef& r2_def() {
  static const MetricDef def{"r2", "coefficient of determination, averaged over outputs", true, {}, build};
  return def;
}

}  // namespace tightloop::nn::metrics
