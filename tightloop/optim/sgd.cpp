// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/sgd.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/checks.h>
#include <tightloop/optim/index.h>
#include <tightloop/optim/moments.h>

namespace tightloop::optim {
namespace {

enum : std::size_t { kLr, kMomentum, kFresh };  // what prepare() makes

}  // namespace

Sgd::Sgd(SgdOptions options) : options_(options) {
  check_not_negative("sgd", "learning rate", options.lr);
  check_not_negative("sgd", "momentum", options.momentum);
  check_not_negative("sgd", "weight_decay", options.weight_decay);
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0))
    throw Error("optimizer sgd: nesterov needs a momentum above 0 and a dampening of 0");
}

std::vector<std::string> Sgd::slots() const {
  if (options_.momentum == 0) return {};
  return {"momentum_buffer"};
}

Factors Sgd::prepare(const Tensor& step, const Tensor& lr, double weight_decay) const {
  return prepare_with(step, lr, weight_decay, scalar(options_.momentum, DType::f64));
}

Factors Sgd::prepare_with(const Tensor& step, const Tensor& lr, double, const Tensor& momentum) const {
  Factors f{lr, momentum};
  if (options_.momentum != 0 && options_.dampening != 0)
    f.push_back(select(step <= 1.0, scalar(1, DType::f64), scalar(1 - options_.dampening, DType::f64)));
  return f;
}

Update Sgd::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                   const Factors& factors, double weight_decay) const {
  const Tensor lr = cast(factors[kLr], parameter.dtype());
  const Tensor g = with_l2(gradient, parameter, weight_decay);
  if (slots.empty()) return {parameter - lr * g, {}};
  const Tensor momentum = cast(factors[kMomentum], parameter.dtype());
  const Tensor fresh = factors.size() > kFresh ? cast(factors[kFresh], parameter.dtype()) * g : g;
  const Tensor buffer = momentum * slots[0] + fresh;
  const Tensor direction = options_.nesterov ? g + momentum * buffer : buffer;
  return {parameter - lr * direction, {buffer}};
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  return std::make_unique<Sgd>(SgdOptions{o.at<double>("lr"), o.at<double>("momentum"),
                                          o.at<double>("dampening"), o.at<double>("weight_decay"),
                                          o.at<bool>("nesterov")});
}

}  // namespace

const OptimizerDef& sgd_def() {
  static const OptimizerDef def{
      "sgd",
      "stochastic gradient descent with momentum",
      {{"lr", OptionType::number, 1e-3, "learning rate"},
       {"momentum", OptionType::number, 0.0},
       {"dampening", OptionType::number, 0.0, "share of the gradient kept out of the momentum"},
       {"weight_decay", OptionType::number, 0.0, "L2, added to the gradient"},
       {"nesterov", OptionType::boolean, false}},
      build};
  return def;
}

}  // namespace tightloop::optim
