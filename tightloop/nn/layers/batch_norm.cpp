// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/batch_norm.h>

#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/moments.h>

namespace tightloop::nn {

BatchNorm::BatchNorm(const char* name, std::int64_t channels, BatchNormOptions options, std::size_t low,
                     std::size_t high)
    : ChannelNorm("batch_norm", name, channels, options, low, high) {}

BatchNorm::BatchNorm(std::int64_t channels, BatchNormOptions options)
    : BatchNorm("BatchNorm", channels, options, 2, 5) {}
BatchNorm1d::BatchNorm1d(std::int64_t channels, BatchNormOptions options)
    : BatchNorm("BatchNorm1d", channels, options, 2, 3) {}
BatchNorm2d::BatchNorm2d(std::int64_t channels, BatchNormOptions options)
    : BatchNorm("BatchNorm2d", channels, options, 4, 4) {}
BatchNorm3d::BatchNorm3d(std::int64_t channels, BatchNormOptions options)
    : BatchNorm("BatchNorm3d", channels, options, 5, 5) {}

Tensor BatchNorm::normalize(const Tensor& x) {
  Axes axes{0};
  std::vector<Dim> reduced{x.dim(0)};
  for (std::size_t d = 2; d < x.rank(); ++d) {
    axes.push_back(static_cast<std::int64_t>(d));
    reduced.push_back(x.dim(d));
  }
  const Dim count = Shape(std::move(reduced)).count();
  const Shifted input = without_shift(x, axes);
  const Moments m = moments(input.unshifted, axes);
  if (following()) {
    const Tensor n = size(count, m.mean.dtype());
    const Tensor mean = input.shift.defined() ? m.mean + input.shift : m.mean;
    const Tensor batches = num_batches_tracked->value() + 1.0;
    num_batches_tracked->update(batches);
    follow(flatten(mean), flatten(m.variance) * (n / maximum(n - 1.0, ones({}, n.dtype()))),
           options().momentum ? scalar(*options().momentum) : 1.0 / cast(batches, DType::f32));
  }
  const Tensor y = normalized(m, options().eps);
  return count.factor > 1
             ? y
             : checked_rows(y, count, 2, title(),
                            "the statistics of a batch need more than one value per channel, and one row "
                            "has one");
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  return std::make_unique<BatchNorm>(channels_of("batch_norm", x), channel_options(o));
}

}  // namespace

const LayerDef& batch_norm_def() {
  static const LayerDef def{"batch_norm", "each channel centred and scaled by the statistics of the batch",
                            channel_option_specs(true, true, true), build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
