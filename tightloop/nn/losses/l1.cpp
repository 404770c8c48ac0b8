// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

Tensor l1_loss(const Tensor& prediction, const Tensor& target, LossOptions options) {
  return reduced(abs(prediction - aligned_target("l1", prediction, target)), options.reduction);
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  return [r = reduction_of("l1", o)](const Tensor& prediction, const Tensor& target) {
    return by_rows(l1_loss(prediction, target, {r}), prediction, r);
  };
}

}  // namespace

const LossDef& l1_def() {
  static const LossDef def{"l1", "mean absolute error", TargetKind::values, {reduction_option()}, build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
