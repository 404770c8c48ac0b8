// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {

Tensor multilabel_soft_margin_loss(const Tensor& logits, const Tensor& target,
                                   const MultilabelSoftMarginOptions& options) {
  const Tensor t = aligned_target("multilabel_soft_margin", logits, target);
  if (logits.rank() == 0) throw Error("multilabel_soft_margin: needs a dim of classes, got a scalar");
  Tensor losses = -(t * log_sigmoid(logits) + (1.0 - t) * log_sigmoid(-logits));
  if (options.weight.defined()) losses = losses * cast(options.weight, logits.dtype());
  return reduced(mean(losses, {-1}), options.reduction);
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  const Tensor weight = vector_option(o, "weight");
  return [weight, r = reduction_of("multilabel_soft_margin", o)](const Tensor& prediction,
                                                                 const Tensor& target) {
    return by_rows(multilabel_soft_margin_loss(prediction, target, {weight, r}), prediction, r);
  };
}

}  // namespace

const LossDef& multilabel_soft_margin_def() {
  static const LossDef def{
      "multilabel_soft_margin",
      "bce_with_logits averaged over the classes of a row, whose targets are 0 and 1",
      TargetKind::values,
      {{"weight", OptionType::list, {}, "one factor for each class"}, reduction_option()},
      build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
