// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/context.h>
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {

Tensor kl_div(const Tensor& input, const Tensor& target, KlDivOptions options) {
  const Tensor t = aligned_target("kl_div", input, target);
  Tensor losses;
  if (options.log_target) {
    losses = exp(t) * (t - input);
  } else {
    const Tensor positive = t > 0.0;
    const Tensor safe = select(positive, t, ones({}, t.dtype()));
    losses = select(positive, t * (log(safe) - input), zeros({}, t.dtype()));
  }
  const Tensor value = options.reduction == Reduction::batchmean
                           ? sum(losses) / cast(row_count(input), input.dtype())
                           : reduced(losses, options.reduction);
  if (options.log_target) return value;
  return checked(value, logical_not(t >= 0.0), t, "kl_div: target",
                 "must be 0 or greater; for log-probabilities set log_target");
}

namespace losses {
namespace {

Reduction reduction(const std::string& word) {
  if (word == "batchmean") return Reduction::batchmean;
  if (word == "mean") return Reduction::mean;
  if (word == "sum") return Reduction::sum;
  throw Error(fmt::format("loss kl_div: reduction must be 'batchmean', 'mean' or 'sum', not '{}'", word));
}

LossFn build(const Options& given) {
  const KlDivOptions o{reduction(given.at<std::string>("reduction")), given.at<bool>("log_target")};
  return [o](const Tensor& prediction, const Tensor& target) {
    const Reduction weighing = o.reduction == Reduction::sum ? Reduction::sum : Reduction::mean;
    return by_rows(kl_div(prediction, target, o), prediction, weighing);
  };
}

}  // namespace

const LossDef& kl_div_def() {
  static const LossDef def{
      "kl_div",
      "Kullback-Leibler divergence of log-probabilities from target probabilities",
      TargetKind::values,
      {{"reduction", OptionType::text, "mean", "mean over elements, batchmean over rows, or sum"},
       {"log_target", OptionType::boolean, false, "the target holds log-probabilities"}},
      build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
