// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {

// softplus(x) = max(x, 0) + log1p(exp(-|x|)): finite for every x, nothing cancels, and max shares its
// gradient at x = 0, so that the slope there is 1/2.
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const BceLogitsOptions& options) {
  const Tensor t = aligned_target("bce_with_logits", logits, target);
  const Tensor negative = 1.0 - t;
  Tensor positive = t;
  if (options.pos_weight.defined()) positive = t * cast(options.pos_weight, logits.dtype());
  const Tensor zero = zeros({}, logits.dtype());
  Tensor losses = positive * maximum(-logits, zero) + negative * maximum(logits, zero) +
                  (positive + negative) * log1p(exp(-abs(logits)));
  if (options.weight.defined()) losses = losses * cast(options.weight, logits.dtype());
  return reduced(losses, options.reduction);
}

namespace losses {
namespace {

LossFn build(const Options& given) {
  const Tensor pos_weight = vector_option(given, "pos_weight");
  return [pos_weight, r = reduction_of("bce_with_logits", given)](const Tensor& prediction,
                                                                  const Tensor& target) {
    return by_rows(binary_cross_entropy_with_logits(prediction, target, {{}, pos_weight, r}), prediction, r);
  };
}

}  // namespace

const LossDef& bce_with_logits_def() {
  static const LossDef def{
      "bce_with_logits",
      "binary cross-entropy of a sigmoid, from logits",
      TargetKind::values,
      {{"pos_weight", OptionType::list, {}, "factor of the positive part, one for each output"},
       reduction_option()},
      build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
