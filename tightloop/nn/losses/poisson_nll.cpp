// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

#include <numbers>

namespace tightloop::nn {
namespace {

/// log t! by Stirling's formula; 0 up to 1.
Tensor log_factorial(const Tensor& t) {
  const Tensor small = t <= 1.0;
  const Tensor safe = select(small, ones({}, t.dtype()), t);
  const Tensor value = safe * log(safe) - safe + 0.5 * log(2 * std::numbers::pi * safe);
  return select(small, zeros({}, t.dtype()), value);
}

}  // namespace

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, PoissonNllOptions options) {
  const Tensor t = aligned_target("poisson_nll", input, target);
  Tensor losses = options.log_input ? exp(input) - t * input : input - t * log(input + options.eps);
  if (options.full) losses = losses + log_factorial(t);
  return reduced(losses, options.reduction);
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  const PoissonNllOptions options{o.at<bool>("log_input"), o.at<bool>("full"), o.at<double>("eps"),
                                  reduction_of("poisson_nll", o)};
  return [options](const Tensor& prediction, const Tensor& target) {
    return by_rows(poisson_nll_loss(prediction, target, options), prediction, options.reduction);
  };
}

}  // namespace

const LossDef& poisson_nll_def() {
  static const LossDef def{
      "poisson_nll",
      "negative log-likelihood of counts, from the logarithm of their rate",
      TargetKind::values,
      {{"log_input", OptionType::boolean, true, "the prediction is log(rate), else the rate"},
       {"full", OptionType::boolean, false, "add log(target!), by Stirling's formula"},
       {"eps", OptionType::number, 1e-8, "added to a rate before its logarithm"},
       reduction_option()},
      build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
