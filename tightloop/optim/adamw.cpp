// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/adamw.h>

#include <tightloop/ops/functions.h>
#include <tightloop/optim/index.h>

namespace tightloop::optim {

Factors AdamW::prepare(const Tensor& step, const Tensor& lr, double weight_decay) const {
  Factors f = Adam::prepare(step, lr, weight_decay);
  f.push_back(1.0 - lr * weight_decay);
  return f;
}

Factors AdamW::prepare_with(const Tensor& step, const Tensor& lr, double weight_decay,
                            const Tensor& momentum) const {
  Factors f = Adam::prepare_with(step, lr, weight_decay, momentum);
  f.push_back(1.0 - lr * weight_decay);
  return f;
}

Update AdamW::update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                     const Factors& factors, double weight_decay) const {
  const Tensor p = weight_decay == 0 ? parameter : parameter * cast(factors.back(), parameter.dtype());
  return step(p, gradient, slots, Factors(factors.begin(), factors.end() - 1));
}

namespace {

std::unique_ptr<Optimizer> build(const Options& o) {
  const AdamOptions a = adam_options_of("adamw", o);
  return std::make_unique<AdamW>(AdamWOptions{a.lr, a.beta1, a.beta2, a.eps, a.weight_decay, a.amsgrad});
}

}  // namespace

const OptimizerDef& adamw_def() {
  static const OptimizerDef def{"adamw", "Adam with decoupled weight decay", adam_options(1e-2), build};
  return def;
}

}  // namespace tightloop::optim
