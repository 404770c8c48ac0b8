// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/adamax.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

namespace tightloop::optim {

Adamax::Adamax(AdamaxOptions options) : options_(options) {
  check_not_negative("adamax", "learning rate", options.lr);
  check_fraction("adamax", "beta1", options.beta1);
  check_fraction("adamax", "beta2", options.beta2);
  check_not_negative("adamax", "eps", options.eps);
  check_not_negative("adamax", "weight_decay", options.weight_decay);
}

Factors Adamax::prepare(const Tensor& step, const Tensor& lr, double) const {
  return {lr / bias_correction(options_.beta1, cast(step, DType::f64))};
}

Update Adamax::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                      const Factors& factors, double weight_decay) const {
  const Tensor g = with_l2(gradient, parameter, weight_decay);
  const Tensor m = moved(slots[0], g, options_.beta1);
  const Tensor u = maximum(options_.beta2 * slots[1], abs(g) + options_.eps);
  return {parameter - cast(factors[0], parameter.dtype()) * m / u, {m, u}};
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  const auto [beta1, beta2] = betas_of("adamax", o);
  return std::make_unique<Adamax>(
      AdamaxOptions{o.at<double>("lr"), beta1, beta2, o.at<double>("eps"), o.at<double>("weight_decay")});
}

}  // namespace

const OptimizerDef& adamax_def() {
  static const OptimizerDef def{
      "adamax",
      "Adam with the largest gradient, slowly forgotten, in place of the average square",
      {{"lr", OptionType::number, 2e-3, "learning rate"},
       betas_option(0.9, 0.999),
       {"eps", OptionType::number, 1e-8, "added to the gradient's magnitude"},
       {"weight_decay", OptionType::number, 0.0, "L2, added to the gradient"}},
      build};
  return def;
}

}  // namespace tightloop::optim
