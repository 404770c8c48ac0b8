// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/context.h>
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

/// How often each class is listed before the first negative number. `listed`: [..., C] → [..., C]
Tensor label_counts(const Tensor& listed, std::int64_t classes) {
  const Tensor place = cast(iota({classes}, 0), listed.dtype());
  const Tensor end = scalar(static_cast<double>(classes), listed.dtype());
  const Tensor valid = place < amin(select(listed < 0.0, place, end), {-1}, true);
  const Tensor hit = logical_and(unsqueeze(listed, -1) == place, unsqueeze(valid, -1));
  return sum(cast(hit, listed.dtype()), {-2});
}

}  // namespace

Tensor multilabel_margin_loss(const Tensor& scores, const Tensor& target, LossOptions options) {
  const Tensor t = aligned_target("multilabel_margin", scores, target);
  if (scores.rank() == 0 || !scores.dim(scores.rank() - 1).is_static() || scores.rank() > 2)
    throw Error(
        fmt::format("multilabel_margin: scores must be [C] or [B, C], got {}", to_string(scores.type())));
  const std::int64_t classes = scores.dim(scores.rank() - 1).factor;
  const Tensor count = label_counts(t, classes), zero = zeros({}, scores.dtype());
  const Tensor label = unsqueeze(count, -1), other = unsqueeze(count, -2);  // [..., C, 1] and [..., 1, C]
  const Tensor short_of = relu(1.0 - unsqueeze(scores, -1) + unsqueeze(scores, -2));
  const Tensor pairs = select(logical_and(label > 0.0, other == 0.0), label * short_of, zero);
  const Tensor losses = sum(pairs, {-2, -1}) / static_cast<double>(classes);
  const Tensor bad =
      logical_not(logical_and(logical_and(t >= -1.0, t < static_cast<double>(classes)), t == floor(t)));
  return checked(reduced(losses, options.reduction), bad, t, "multilabel_margin: target",
                 fmt::format("must be a class 0..{}, or -1 after the last", classes - 1));
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  return [r = reduction_of("multilabel_margin", o)](const Tensor& prediction, const Tensor& target) {
    return by_rows(multilabel_margin_loss(prediction, target, {r}), prediction, r);
  };
}

}  // namespace

const LossDef& multilabel_margin_def() {
  static const LossDef def{"multilabel_margin",
                           "by how much the scores of a row's classes fail to lead the others by 1; the "
                           "target lists them, -1 behind",
                           TargetKind::values,
                           {reduction_option()},
                           build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
