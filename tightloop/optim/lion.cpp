// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/lion.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

namespace tightloop::optim {
namespace {

enum : std::size_t { kLr, kDecay };  // what prepare() makes

}  // namespace

Lion::Lion(LionOptions options) : options_(options) {
  check_not_negative("lion", "learning rate", options.lr);
  check_fraction("lion", "beta1", options.beta1);
  check_fraction("lion", "beta2", options.beta2);
  check_not_negative("lion", "weight_decay", options.weight_decay);
}

Factors Lion::prepare(const Tensor&, const Tensor& lr, double weight_decay) const {
  return {lr, 1.0 - lr * weight_decay};
}

// The sign of NaN is 0: without the select a lost gradient would stop its parameter unseen.
Update Lion::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                    const Factors& factors, double weight_decay) const {
  const DType dtype = parameter.dtype();
  const Tensor p = weight_decay == 0 ? parameter : parameter * cast(factors[kDecay], dtype);
  const Tensor c = moved(slots[0], gradient, options_.beta1);
  const Tensor direction = select(is_nan(c), c, sign(c));
  return {p - cast(factors[kLr], dtype) * direction, {moved(slots[0], gradient, options_.beta2)}};
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  const auto [beta1, beta2] = betas_of("lion", o);
  return std::make_unique<Lion>(LionOptions{o.at<double>("lr"), beta1, beta2, o.at<double>("weight_decay")});
}

}  // namespace

const OptimizerDef& lion_def() {
  static const OptimizerDef def{
      "lion",
      "steps of one size, by the sign of an average of the gradient",
      {{"lr", OptionType::number, 1e-4, "learning rate"},
       {"betas", OptionType::list, Numbers{0.9, 0.99}, "share of the average in the step, and its decay"},
       {"weight_decay", OptionType::number, 0.0, "decoupled"}},
      build};
  return def;
}

}  // namespace tightloop::optim
