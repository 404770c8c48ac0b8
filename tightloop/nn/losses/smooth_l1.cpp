// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/nn/losses/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

void check_beta(double beta) {
  if (!(beta >= 0)) throw Error(fmt::format("smooth_l1: beta must be 0 or greater, got {}", beta));
}

}  // namespace

Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, SmoothL1Options options) {
  const double beta = options.beta;
  check_beta(beta);
  const Tensor e = prediction - aligned_target("smooth_l1", prediction, target);
  const Tensor size = abs(e);
  if (beta == 0) return reduced(size, options.reduction);
  return reduced(select(size < beta, (0.5 / beta) * square(e), size - 0.5 * beta), options.reduction);
}

namespace losses {
namespace {

LossFn build(const Options& o) {
  const SmoothL1Options options{o.at<double>("beta"), reduction_of("smooth_l1", o)};
  check_beta(options.beta);
  return [options](const Tensor& prediction, const Tensor& target) {
    return by_rows(smooth_l1_loss(prediction, target, options), prediction, options.reduction);
  };
}

}  // namespace

const LossDef& smooth_l1_def() {
  static const LossDef def{"smooth_l1",
                           "absolute error, squared within beta of 0",
                           TargetKind::values,
                           {{"beta", OptionType::number, 1.0, "where it turns squared"}, reduction_option()},
                           build};
  return def;
}

}  // namespace losses
}  // namespace tightloop::nn
