// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/adam.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

namespace tightloop::optim {
namespace {

enum : std::size_t { kScale, kEps, kBeta };  // what prepare() makes; β₁ where it moves

}  // namespace

Adam::Adam(std::string_view name, AdamOptions options) : options_(options) {
  check_not_negative(name, "learning rate", options.lr);
  check_not_negative(name, "eps", options.eps);
  check_fraction(name, "beta1", options.beta1);
  check_fraction(name, "beta2", options.beta2);
  check_not_negative(name, "weight_decay", options.weight_decay);
}

std::vector<std::string> Adam::slots() const {
  if (options_.amsgrad) return {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  return {"exp_avg", "exp_avg_sq"};
}

// Numerator and denominator of PyTorch's step are both multiplied by √(1-β₂ᵗ): one product less an element.
Factors Adam::prepare(const Tensor& step, const Tensor& lr, double) const {
  const Tensor t = cast(step, DType::f64);
  const Tensor root = sqrt(bias_correction(options_.beta2, t));
  return {lr * root / bias_correction(options_.beta1, t), options_.eps * root};
}

Factors Adam::prepare_with(const Tensor& step, const Tensor& lr, double, const Tensor& momentum) const {
  const Tensor t = cast(step, DType::f64);
  const Tensor root = sqrt(bias_correction(options_.beta2, t));
  return {lr * root / bias_correction(momentum, t), options_.eps * root, momentum};
}

Update Adam::step(const Tensor& parameter, const Tensor& g, std::span<const Tensor> slots,
                  const Factors& factors) const {
  const DType dtype = parameter.dtype();
  const Tensor m =
      factors.size() > kBeta ? moved(slots[0], g, factors[kBeta]) : moved(slots[0], g, options_.beta1);
  const Tensor v = moved_square(slots[1], g, options_.beta2);
  const Tensor largest = options_.amsgrad ? maximum(slots[2], v) : v;
  const Tensor p =
      parameter - div_root(cast(factors[kScale], dtype) * m, largest, cast(factors[kEps], dtype));
  if (options_.amsgrad) return {p, {m, v, largest}};
  return {p, {m, v}};
}

Update Adam::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                    const Factors& factors, double weight_decay) const {
  return step(parameter, with_l2(gradient, parameter, weight_decay), slots, factors);
}

std::vector<OptionSpec> adam_options(double weight_decay) {
  return {{"lr", OptionType::number, 1e-3, "learning rate"},
          betas_option(0.9, 0.999),
          {"eps", OptionType::number, 1e-8, "added to the denominator"},
          {"weight_decay", OptionType::number, weight_decay},
          {"amsgrad", OptionType::boolean, false, "use the largest average of squares so far"}};
}

AdamOptions adam_options_of(std::string_view optimizer, const Options& o) {
  const auto [beta1, beta2] = betas_of(optimizer, o);
  return {o.at<double>("lr"),   beta1, beta2, o.at<double>("eps"), o.at<double>("weight_decay"),
          o.at<bool>("amsgrad")};
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  return std::make_unique<Adam>(adam_options_of("adam", o));
}

}  // namespace

const OptimizerDef& adam_def() {
  static const OptimizerDef def{"adam", "Adam; weight decay is L2, added to the gradient", adam_options(0),
                                build};
  return def;
}

}  // namespace tightloop::optim
