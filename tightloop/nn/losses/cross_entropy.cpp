// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/class_target.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

void check_smoothing(double s) {
  if (!(s >= 0 && s <= 1)) throw Error(fmt::format("cross_entropy: label_smoothing must be 0..1, got {}", s));
}

LossValue of_classes(const Tensor& x, const Tensor& target, const CrossEntropyOptions& o) {
  const ClassTarget t = class_target("cross_entropy", x, target, o.weight, o.ignore_index);
  const std::int64_t classes = x.dim(x.rank() - 1).factor;
  const Tensor lse = logsumexp(x, {-1}, true);
  Tensor losses = squeeze(lse, -1) - take_last(x, t.index);
  if (t.row_weight.defined()) losses = losses * t.row_weight;
  if (t.kept.defined()) losses = select(t.kept, losses, zeros({}, losses.dtype()));
  if (o.label_smoothing > 0) {
    const Tensor w = class_weight("cross_entropy", x, o.weight);
    Tensor spread = sum(w.defined() ? (lse - x) * w : lse - x, {-1});
    if (t.kept.defined()) spread = select(t.kept, spread, zeros({}, spread.dtype()));
    losses = (1 - o.label_smoothing) * losses + (o.label_smoothing / static_cast<double>(classes)) * spread;
  }
  return class_loss("cross_entropy", losses, t, classes, o.reduction);
}

LossValue of_probabilities(const Tensor& x, const Tensor& target, const CrossEntropyOptions& o) {
  if (o.ignore_index) throw Error("cross_entropy: ignore_index needs class targets, not probabilities");
  const double classes = static_cast<double>(x.dim(x.rank() - 1).factor);
  Tensor p = cast(target, x.dtype());
  if (o.label_smoothing > 0) p = (1 - o.label_smoothing) * p + o.label_smoothing / classes;
  if (const Tensor w = class_weight("cross_entropy", x, o.weight); w.defined()) p = p * w;
  const Tensor losses = sum((logsumexp(x, {-1}, true) - x) * p, {-1});
  const Tensor value = reduced(losses, o.reduction);
  if (o.reduction == Reduction::none) return {value, {}, {}};
  return by_rows(value, x.rank() == 1 ? value : x, o.reduction);
}

LossFn build(const Options& given) {
  CrossEntropyOptions o{vector_option(given, "weight"), ignore_option(given),
                        given.at<double>("label_smoothing"), reduction_of("cross_entropy", given)};
  check_smoothing(o.label_smoothing);
  return [o](const Tensor& prediction, const Tensor& target) {
    return cross_entropy_value(prediction, target, o);
  };
}

}  // namespace

LossValue cross_entropy_value(const Tensor& logits, const Tensor& target,
                              const CrossEntropyOptions& options) {
  check_smoothing(options.label_smoothing);
  const Tensor x = classes_last("cross_entropy", logits);
  if (is_floating(target.dtype()) && target.shape() == logits.shape())
    return of_probabilities(x, classes_last("cross_entropy", target), options);
  return of_classes(x, target, options);
}

Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options) {
  return cross_entropy_value(logits, target, options).value;
}

namespace losses {

const LossDef& cross_entropy_def() {
  static const LossDef def{
      "cross_entropy",
      "softmax and negative log-likelihood of the target class, from logits",
      TargetKind::classes_or_probabilities,
      {{"weight", OptionType::list, {}, "one factor for each class"},
       {"ignore_index", OptionType::integer, {}, "target value that marks rows to leave out"},
       {"label_smoothing", OptionType::number, 0.0, "share of the target spread over all classes, 0..1"},
       reduction_option()},
      build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
