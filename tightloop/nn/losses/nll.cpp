// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/class_target.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

LossValue nll_value(const Tensor& log_probabilities, const Tensor& target, const NllOptions& options) {
  const Tensor x = classes_last("nll", log_probabilities);
  const ClassTarget t = class_target("nll", x, target, options.weight, options.ignore_index);
  Tensor losses = -take_last(x, t.index);
  if (t.row_weight.defined()) losses = losses * t.row_weight;
  if (t.kept.defined()) losses = select(t.kept, losses, zeros({}, losses.dtype()));
  return class_loss("nll", losses, t, x.dim(x.rank() - 1).factor, options.reduction);
}

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NllOptions& options) {
  return nll_value(log_probabilities, target, options).value;
}

namespace losses {
namespace {

LossFn build(const Options& given) {
  NllOptions o{vector_option(given, "weight"), ignore_option(given), reduction_of("nll", given)};
  return [o](const Tensor& prediction, const Tensor& target) { return nll_value(prediction, target, o); };
}

}  // namespace

const LossDef& nll_def() {
  static const LossDef def{
      "nll",
      "negative log-likelihood of the target class, from log-probabilities",
      TargetKind::classes,
      {{"weight", OptionType::list, {}, "one factor for each class"},
       {"ignore_index", OptionType::integer, {}, "target value that marks rows to leave out"},
       reduction_option()},
      build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
