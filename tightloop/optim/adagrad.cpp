// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/adagrad.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

namespace tightloop::optim {
namespace {

enum : std::size_t { kLr, kStart };  // what prepare() makes

}  // namespace

Adagrad::Adagrad(AdagradOptions options) : options_(options) {
  check_not_negative("adagrad", "learning rate", options.lr);
  check_not_negative("adagrad", "lr_decay", options.lr_decay);
  check_not_negative("adagrad", "weight_decay", options.weight_decay);
  check_not_negative("adagrad", "initial_accumulator_value", options.initial_accumulator_value);
  check_not_negative("adagrad", "eps", options.eps);
}

// Slots start at 0, so the initial value comes in with the first step.
Factors Adagrad::prepare(const Tensor& step, const Tensor& lr, double) const {
  Factors f{lr};
  if (options_.lr_decay != 0) f[kLr] = lr / (1.0 + (cast(step, DType::f64) - 1.0) * options_.lr_decay);
  if (options_.initial_accumulator_value != 0)
    f.push_back(
        select(step <= 1.0, scalar(options_.initial_accumulator_value, DType::f64), scalar(0, DType::f64)));
  return f;
}

Update Adagrad::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                       const Factors& factors, double weight_decay) const {
  const DType dtype = parameter.dtype();
  const Tensor g = with_l2(gradient, parameter, weight_decay);
  const Tensor before = factors.size() > kStart ? slots[0] + cast(factors[kStart], dtype) : slots[0];
  const Tensor squares = before + square(g);
  const Tensor step = div_root(cast(factors[kLr], dtype) * g, squares, scalar(options_.eps, dtype));
  return {parameter - step, {squares}};
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  return std::make_unique<Adagrad>(
      AdagradOptions{o.at<double>("lr"), o.at<double>("lr_decay"), o.at<double>("weight_decay"),
                     o.at<double>("initial_accumulator_value"), o.at<double>("eps")});
}

}  // namespace

const OptimizerDef& adagrad_def() {
  static const OptimizerDef def{
      "adagrad",
      "the gradient over the root of the sum of its squares so far",
      {{"lr", OptionType::number, 1e-2, "learning rate"},
       {"lr_decay", OptionType::number, 0.0, "step t learns with lr / (1 + (t - 1) · lr_decay)"},
       {"weight_decay", OptionType::number, 0.0, "L2, added to the gradient"},
       {"initial_accumulator_value", OptionType::number, 0.0, "where the sum of squares starts"},
       {"eps", OptionType::number, 1e-10, "added to the denominator"}},
      build};
  return def;
}

}  // namespace tightloop::optim
