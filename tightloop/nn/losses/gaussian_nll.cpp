// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/context.h>
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace tightloop::nn {
namespace {

void check_eps(double eps) {
  if (!(eps >= 0)) throw Error(fmt::format("gaussian_nll: eps must be 0 or greater, got {}", eps));
}

/// One variance for each element, or one for each row: [..., 1], or without the last dim.
Tensor aligned_variance(const Tensor& input, const Tensor& variance) {
  std::vector<Dim> rows = input.shape().dims();
  if (variance.shape() == input.shape() || rows.empty()) {
    return aligned_target("gaussian_nll", input, variance);
  }
  rows.pop_back();
  const bool without = variance.shape() == Shape(rows);
  rows.emplace_back(1);
  if (!without && variance.shape() != Shape(rows))
    throw Error(
        fmt::format("gaussian_nll: variances must be shaped as the prediction, or have one number a "
                    "row, got {} and {}",
                    to_string(input.type()), to_string(variance.type())));
  return cast(reshape(variance, Shape(rows)), input.dtype());
}

}  // namespace

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& variance,
                         GaussianNllOptions options) {
  check_eps(options.eps);
  const Tensor t = aligned_target("gaussian_nll", input, target);
  const Tensor given = aligned_variance(input, variance);
  // held at eps, with the gradient of what was given
  const Tensor v = given + stop_gradient(maximum(given, scalar(options.eps, given.dtype())) - given);
  Tensor losses = 0.5 * (log(v) + square(input - t) / v);
  if (options.full) losses = losses + 0.5 * std::log(2 * std::numbers::pi);
  return checked(reduced(losses, options.reduction), given < 0.0, given, "gaussian_nll: variance",
                 "must be 0 or greater; end it with softplus or exp");
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  const GaussianNllOptions options{o.at<bool>("full"), o.at<double>("eps"), reduction_of("gaussian_nll", o)};
  check_eps(options.eps);
  return [options](const Tensor& prediction, const Tensor& target) {
    const std::size_t rank = prediction.rank();
    const Dim last = rank < 2 ? Dim(1) : prediction.dim(rank - 1);
    if (!last.is_static() || last.factor % 2 != 0)
      throw Error(
          fmt::format("gaussian_nll: the prediction must hold means and then variances, [B, 2K] for targets "
                      "[B, K], got {}",
                      to_string(prediction.type())));
    const std::int64_t half = last.factor / 2;
    const Tensor mean = slice(prediction, -1, 0, half), variance = slice(prediction, -1, half, 2 * half);
    return by_rows(gaussian_nll_loss(mean, target, variance, options), prediction, options.reduction);
  };
}

}  // namespace

const LossDef& gaussian_nll_def() {
  static const LossDef def{
      "gaussian_nll",
      "negative log-likelihood of a normal distribution; the prediction holds the means, then the variances",
      TargetKind::values,
      {{"full", OptionType::boolean, false, "add the constant log(2π)/2"},
       {"eps", OptionType::number, 1e-6, "the least variance"},
       reduction_option()},
      build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
