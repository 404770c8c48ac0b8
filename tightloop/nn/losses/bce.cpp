// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/context.h>
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::nn {
namespace {

// max(log p, -100), continued below e^-100 by a line as steep as PyTorch's gradient, so that a prediction of
// exactly 0 still has a slope.
Tensor held_log(const Tensor& p) {
  constexpr double kSmallest = 1e-38;
  const Tensor inside = p > kSmallest;
  return select(inside, log(select(inside, p, ones({}, p.dtype()))), 1e12 * p - 100.0);
}

}  // namespace

Tensor binary_cross_entropy(const Tensor& prediction, const Tensor& target, const BceOptions& options) {
  const Tensor t = aligned_target("bce", prediction, target);
  Tensor losses = -(t * held_log(prediction) + (1.0 - t) * held_log(1.0 - prediction));
  if (options.weight.defined()) losses = losses * cast(options.weight, prediction.dtype());
  const Tensor outside = logical_or(prediction<0.0, prediction> 1.0);
  const Tensor value = checked(reduced(losses, options.reduction), outside, prediction, "bce: prediction",
                               "must be 0..1; end the model with sigmoid, or use bce_with_logits");
  return checked(value, logical_not(logical_and(t >= 0.0, t <= 1.0)), t, "bce: target", "must be 0..1");
}

namespace losses {
namespace {

LossFn build(const Options& given) {
  return [r = reduction_of("bce", given)](const Tensor& prediction, const Tensor& target) {
    return by_rows(binary_cross_entropy(prediction, target, {{}, r}), prediction, r);
  };
}

}  // namespace

const LossDef& bce_def() {
  static const LossDef def{
      "bce", "binary cross-entropy, from probabilities", TargetKind::values, {reduction_option()}, build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
