// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/radam.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

#include <cmath>

namespace tightloop::optim {
namespace {

enum : std::size_t { kPlain, kAdaptive, kLength, kDecay };  // what prepare() makes

/// ρ, the length of the average of squares, after t steps.
Tensor length(double beta, const Tensor& t) {
  const double longest = 2 / (1 - beta) - 1;
  if (beta == 0) return scalar(longest, DType::f64);
  return longest - 2.0 * t * exp(t * std::log(beta)) / bias_correction(beta, t);
}

}  // namespace

RAdam::RAdam(RAdamOptions options) : options_(options) {
  check_not_negative("radam", "learning rate", options.lr);
  check_fraction("radam", "beta1", options.beta1);
  check_fraction("radam", "beta2", options.beta2);
  check_not_negative("radam", "eps", options.eps);
  check_not_negative("radam", "weight_decay", options.weight_decay);
}

Factors RAdam::prepare(const Tensor& step, const Tensor& lr, double weight_decay) const {
  const Tensor t = cast(step, DType::f64);
  const double longest = 2 / (1 - options_.beta2) - 1;
  const Tensor rho = length(options_.beta2, t);
  const Tensor rectified = sqrt((rho - 4.0) * (rho - 2.0) * longest / ((longest - 4) * (longest - 2) * rho));
  const Tensor root = sqrt(bias_correction(options_.beta2, t));
  const Tensor plain = lr / bias_correction(options_.beta1, t);
  return {plain, plain * rectified * root, rho, 1.0 - lr * weight_decay};
}

Update RAdam::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                     const Factors& factors, double weight_decay) const {
  const DType dtype = parameter.dtype();
  const bool decoupled = options_.decoupled_weight_decay && weight_decay != 0;
  const Tensor p = decoupled ? parameter * cast(factors[kDecay], dtype) : parameter;
  const Tensor g = decoupled ? gradient : with_l2(gradient, parameter, weight_decay);
  const Tensor m = moved(slots[0], g, options_.beta1), v = moved_square(slots[1], g, options_.beta2);
  const Tensor adaptive = div_root(cast(factors[kAdaptive], dtype) * m, v, scalar(options_.eps, dtype));
  const Tensor plain = cast(factors[kPlain], dtype) * m;
  return {p - select(factors[kLength] > 5.0, adaptive, plain), {m, v}};
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  const auto [beta1, beta2] = betas_of("radam", o);
  return std::make_unique<RAdam>(RAdamOptions{o.at<double>("lr"), beta1, beta2, o.at<double>("eps"),
                                              o.at<double>("weight_decay"),
                                              o.at<bool>("decoupled_weight_decay")});
}

}  // namespace

const OptimizerDef& radam_def() {
  static const OptimizerDef def{
      "radam",
      "Adam that adapts only once the average of squares is long enough to trust",
      {{"lr", OptionType::number, 1e-3, "learning rate"},
       betas_option(0.9, 0.999),
       {"eps", OptionType::number, 1e-8, "added to the denominator"},
       {"weight_decay", OptionType::number, 0.0},
       {"decoupled_weight_decay", OptionType::boolean, false, "as adamw; else L2, added to the gradient"}},
      build};
  return def;
}

}  // namespace tightloop::optim
