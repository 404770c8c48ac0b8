// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/adam.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::optim {
namespace {

enum : std::size_t { kScale, kEps };  // what prepare() makes

/// 1 - βᵗ
Tensor correction(double beta, const Tensor& t) {
  if (beta == 0) return scalar(1, DType::f64);
  return 1.0 - exp(t * std::log(beta));
}

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
  const Tensor root = sqrt(correction(options_.beta2, t));
  return {lr * root / correction(options_.beta1, t), options_.eps * root};
}

Update Adam::step(const Tensor& parameter, const Tensor& g, std::span<const Tensor> slots,
                  const Factors& factors) const {
  const DType dtype = parameter.dtype();
  const Tensor m = slots[0] + (1 - options_.beta1) * (g - slots[0]);
  const Tensor v = options_.beta2 * slots[1] + (1 - options_.beta2) * square(g);
  const Tensor largest = options_.amsgrad ? maximum(slots[2], v) : v;
  const Tensor p =
      parameter - div_root(cast(factors[kScale], dtype) * m, largest, cast(factors[kEps], dtype));
  if (options_.amsgrad) return {p, {m, v, largest}};
  return {p, {m, v}};
}

Update Adam::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                    const Factors& factors, double weight_decay) const {
  const Tensor g = weight_decay == 0 ? gradient : gradient + weight_decay * parameter;
  return step(parameter, g, slots, factors);
}

std::vector<OptionSpec> adam_options(double weight_decay) {
  return {{"lr", OptionType::number, 1e-3, "learning rate"},
          {"betas", OptionType::list, Numbers{0.9, 0.999},
           "decay of the averages of the gradient and its square"},
          {"eps", OptionType::number, 1e-8, "added to the denominator"},
          {"weight_decay", OptionType::number, weight_decay},
          {"amsgrad", OptionType::boolean, false, "use the largest average of squares so far"}};
}

AdamOptions adam_options_of(std::string_view optimizer, const Options& o) {
  const auto& betas = o.at<Numbers>("betas");
  if (betas.size() != 2)
    throw Error(fmt::format("optimizer {}: betas must be two numbers, got {}", optimizer, to_string(betas)));
  return {o.at<double>("lr"),   betas[0], betas[1], o.at<double>("eps"), o.at<double>("weight_decay"),
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
