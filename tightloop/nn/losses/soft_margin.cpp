// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/nn/losses/sign_target.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

Tensor soft_margin_loss(const Tensor& input, const Tensor& target, LossOptions options) {
  const Tensor t = aligned_target("soft_margin", input, target);
  return with_sign_targets("soft_margin", reduced(-log_sigmoid(t * input), options.reduction), t);
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  return [r = reduction_of("soft_margin", o)](const Tensor& prediction, const Tensor& target) {
    return by_rows(soft_margin_loss(prediction, target, {r}), prediction, r);
  };
}

}  // namespace

const LossDef& soft_margin_def() {
  static const LossDef def{"soft_margin",
                           "log(1 + exp(-target · prediction)), for targets 1 and -1",
                           TargetKind::values,
                           {reduction_option()},
                           build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
