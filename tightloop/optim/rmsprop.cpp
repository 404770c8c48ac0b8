// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/rmsprop.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

namespace tightloop::optim {

RmsProp::RmsProp(RmsPropOptions options) : options_(options) {
  check_not_negative("rmsprop", "learning rate", options.lr);
  check_share("rmsprop", "alpha", options.alpha);
  check_not_negative("rmsprop", "eps", options.eps);
  check_not_negative("rmsprop", "weight_decay", options.weight_decay);
  check_not_negative("rmsprop", "momentum", options.momentum);
}

std::vector<std::string> RmsProp::slots() const {
  std::vector<std::string> out{"square_avg"};
  if (options_.momentum != 0) out.emplace_back("momentum_buffer");
  if (options_.centered) out.emplace_back("grad_avg");
  return out;
}

Factors RmsProp::prepare(const Tensor&, const Tensor& lr, double) const { return {lr}; }

Update RmsProp::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                       const Factors& factors, double weight_decay) const {
  const DType dtype = parameter.dtype();
  const Tensor lr = cast(factors[0], dtype), eps = scalar(options_.eps, dtype);
  const Tensor g = with_l2(gradient, parameter, weight_decay);
  Update out{{}, {moved_square(slots[0], g, options_.alpha)}};
  Tensor spread = out.slots[0], average;
  if (options_.centered) {
    average = moved(slots.back(), g, options_.alpha);
    spread = maximum(spread - square(average), scalar(0, dtype));
  }
  if (options_.momentum == 0) {
    out.parameter = parameter - div_root(lr * g, spread, eps);
  } else {
    out.slots.push_back(options_.momentum * slots[1] + div_root(g, spread, eps));
    out.parameter = parameter - lr * out.slots.back();
  }
  if (options_.centered) out.slots.push_back(average);
  return out;
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  return std::make_unique<RmsProp>(RmsPropOptions{o.at<double>("lr"), o.at<double>("alpha"),
                                                  o.at<double>("eps"), o.at<double>("weight_decay"),
                                                  o.at<double>("momentum"), o.at<bool>("centered")});
}

}  // namespace

const OptimizerDef& rmsprop_def() {
  static const OptimizerDef def{
      "rmsprop",
      "the gradient over the root of its average square",
      {{"lr", OptionType::number, 1e-2, "learning rate"},
       {"alpha", OptionType::number, 0.99, "decay of the average of squares"},
       {"eps", OptionType::number, 1e-8, "added to the denominator"},
       {"weight_decay", OptionType::number, 0.0, "L2, added to the gradient"},
       {"momentum", OptionType::number, 0.0},
       {"centered", OptionType::boolean, false, "divide by the deviation, not by the root of the square"}},
      build};
  return def;
}

}  // namespace tightloop::optim
