// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/nadam.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

#include <cmath>

namespace tightloop::optim {
namespace {

enum : std::size_t { kGradient, kAverage, kEps, kDecay };  // what prepare() makes

/// μ of step t over β₁: 1 - ½qᵗ, log q = rate.
Tensor momentum_at(double rate, const Tensor& t) { return 1.0 - 0.5 * exp(t * rate); }

/// Π over i = 1..t of μᵢ/β₁. With log(1 - x) = -Σₖ xᵏ/k and the sum over i in closed form,
/// log Π = -Σₖ 2⁻ᵏ/k · qᵏ(1 - qᵏᵗ)/(1 - qᵏ), whose terms beyond the 60th are lost in rounding.
Tensor momentum_product(double rate, const Tensor& t) {
  if (rate > -1e-300) return exp(t * std::log(0.5));
  const Tensor k = iota({60}, 0, DType::f64) + 1.0;
  return exp(-sum(exp(k * (rate - std::log(2.0))) * expm1(k * rate * t) / (k * expm1(k * rate))));
}

}  // namespace

NAdam::NAdam(NAdamOptions options) : options_(options) {
  check_not_negative("nadam", "learning rate", options.lr);
  check_fraction("nadam", "beta1", options.beta1);
  check_fraction("nadam", "beta2", options.beta2);
  check_not_negative("nadam", "eps", options.eps);
  check_not_negative("nadam", "weight_decay", options.weight_decay);
  check_not_negative("nadam", "momentum_decay", options.momentum_decay);
}

Factors NAdam::prepare(const Tensor& step, const Tensor& lr, double weight_decay) const {
  const Tensor t = cast(step, DType::f64);
  const double rate = options_.momentum_decay * std::log(0.96), beta = options_.beta1;
  const Tensor now = beta * momentum_at(rate, t), next = beta * momentum_at(rate, t + 1.0);
  const Tensor product =
      beta == 0 ? scalar(0, DType::f64) : exp(t * std::log(beta)) * momentum_product(rate, t);
  const Tensor root = sqrt(bias_correction(options_.beta2, t));
  return {lr * root * (1.0 - now) / (1.0 - product), lr * root * next / (1.0 - product * next),
          options_.eps * root, 1.0 - lr * weight_decay};
}

Update NAdam::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                     const Factors& factors, double weight_decay) const {
  const DType dtype = parameter.dtype();
  const bool decoupled = options_.decoupled_weight_decay && weight_decay != 0;
  const Tensor p = decoupled ? parameter * cast(factors[kDecay], dtype) : parameter;
  const Tensor g = decoupled ? gradient : with_l2(gradient, parameter, weight_decay);
  const Tensor m = moved(slots[0], g, options_.beta1), v = moved_square(slots[1], g, options_.beta2);
  const Tensor direction = cast(factors[kGradient], dtype) * g + cast(factors[kAverage], dtype) * m;
  return {p - div_root(direction, v, cast(factors[kEps], dtype)), {m, v}};
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  const auto [beta1, beta2] = betas_of("nadam", o);
  return std::make_unique<NAdam>(NAdamOptions{o.at<double>("lr"), beta1, beta2, o.at<double>("eps"),
                                              o.at<double>("weight_decay"), o.at<double>("momentum_decay"),
                                              o.at<bool>("decoupled_weight_decay")});
}

}  // namespace

const OptimizerDef& nadam_def() {
  static const OptimizerDef def{
      "nadam",
      "Adam with Nesterov momentum",
      {{"lr", OptionType::number, 2e-3, "learning rate"},
       betas_option(0.9, 0.999),
       {"eps", OptionType::number, 1e-8, "added to the denominator"},
       {"weight_decay", OptionType::number, 0.0},
       {"momentum_decay", OptionType::number, 4e-3, "how fast the momentum rises from half of beta1"},
       {"decoupled_weight_decay", OptionType::boolean, false, "as adamw; else L2, added to the gradient"}},
      build};
  return def;
}

}  // namespace tightloop::optim
