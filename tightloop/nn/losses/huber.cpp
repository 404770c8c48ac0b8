// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

void check_delta(double delta) {
  if (!(delta > 0)) throw Error(fmt::format("huber: delta must be greater than 0, got {}", delta));
}

}  // namespace

Tensor huber_loss(const Tensor& prediction, const Tensor& target, HuberOptions options) {
  const double delta = options.delta;
  check_delta(delta);
  const Tensor e = prediction - aligned_target("huber", prediction, target);
  const Tensor size = abs(e);
  return reduced(select(size < delta, 0.5 * square(e), delta * (size - 0.5 * delta)), options.reduction);
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  const HuberOptions options{o.at<double>("delta"), reduction_of("huber", o)};
  check_delta(options.delta);
  return [options](const Tensor& prediction, const Tensor& target) {
    return by_rows(huber_loss(prediction, target, options), prediction, options.reduction);
  };
}

}  // namespace

const LossDef& huber_def() {
  static const LossDef def{"huber",
                           "squared near 0, linear beyond delta",
                           TargetKind::values,
                           {{"delta", OptionType::number, 1.0, "where it turns linear"}, reduction_option()},
                           build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
