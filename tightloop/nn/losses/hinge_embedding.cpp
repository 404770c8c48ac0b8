// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/nn/losses/sign_target.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, MarginOptions options) {
  const Tensor t = aligned_target("hinge_embedding", input, target);
  const Tensor losses = select(t == 1.0, input, clamp(options.margin - input, 0, {}));
  return with_sign_targets("hinge_embedding", reduced(losses, options.reduction), t);
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  const MarginOptions options{o.at<double>("margin"), reduction_of("hinge_embedding", o)};
  return [options](const Tensor& prediction, const Tensor& target) {
    return by_rows(hinge_embedding_loss(prediction, target, options), prediction, options.reduction);
  };
}

}  // namespace

const LossDef& hinge_embedding_def() {
  static const LossDef def{
      "hinge_embedding",
      "a distance where the target is 1, what it lacks of the margin where it is -1",
      TargetKind::values,
      {{"margin", OptionType::number, 1.0, "how far apart is enough"}, reduction_option()},
      build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
