// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

Tensor mse_loss(const Tensor& prediction, const Tensor& target, LossOptions options) {
  return reduced(square(prediction - aligned_target("mse", prediction, target)), options.reduction);
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  return [r = reduction_of("mse", o)](const Tensor& prediction, const Tensor& target) {
    return by_rows(mse_loss(prediction, target, {r}), prediction, r);
  };
}

}  // namespace

const LossDef& mse_def() {
  static const LossDef def{"mse", "mean squared error", TargetKind::values, {reduction_option()}, build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
