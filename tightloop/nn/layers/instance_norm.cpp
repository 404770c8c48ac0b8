// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/instance_norm.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/moments.h>

namespace tightloop::nn {
namespace {

ChannelNormOptions common(const InstanceNormOptions& o) {
  return {o.eps, o.momentum, o.affine, o.track_running_stats};
}

}  // namespace

InstanceNorm::InstanceNorm(const char* name, std::int64_t channels, const InstanceNormOptions& options,
                           std::size_t low, std::size_t high)
    : ChannelNorm("instance_norm", name, channels, common(options), low, high) {}

InstanceNorm::InstanceNorm(std::int64_t channels, InstanceNormOptions options)
    : InstanceNorm("InstanceNorm", channels, options, 3, 5) {}
InstanceNorm1d::InstanceNorm1d(std::int64_t channels, InstanceNormOptions options)
    : InstanceNorm("InstanceNorm1d", channels, options, 3, 3) {}
InstanceNorm2d::InstanceNorm2d(std::int64_t channels, InstanceNormOptions options)
    : InstanceNorm("InstanceNorm2d", channels, options, 4, 4) {}

Tensor InstanceNorm::normalize(const Tensor& x) {
  Axes axes;
  std::int64_t count = 1;
  for (std::size_t d = 2; d < x.rank(); ++d) {
    axes.push_back(static_cast<std::int64_t>(d));
    count *= x.dim(d).is_static() ? x.dim(d).factor : 2;
  }
  if (count < 2)
    throw Error(title() + ": a channel of a sample needs more than one value, and " + to_string(x.type()) +
                " has one");
  const Shifted input = without_shift(x, axes);
  const Moments m = moments(input.unshifted, axes);
  if (following()) {
    const auto over_batch = [&](const Tensor& t) { return flatten(mean(t, {0}, true)); };
    const double n = static_cast<double>(count);
    const Tensor shifted = input.shift.defined() ? m.mean + input.shift : m.mean;
    follow(over_batch(shifted), over_batch(m.variance) * (n / (n - 1)), scalar(*options().momentum));
  }
  return normalized(m, options().eps);
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  const ChannelNormOptions c = channel_options(o);
  return std::make_unique<InstanceNorm>(
      channels_of("instance_norm", x),
      InstanceNormOptions{c.eps, *c.momentum, c.affine, c.track_running_stats});
}

}  // namespace

const LayerDef& instance_norm_def() {
  static const LayerDef def{"instance_norm", "each channel of each sample centred and scaled",
                            channel_option_specs(false, false, false), build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
