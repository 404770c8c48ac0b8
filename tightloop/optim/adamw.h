// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/adam.h>

namespace tightloop::optim {

struct AdamWOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
};

/// Loshchilov & Hutter, "Decoupled weight decay regularization", 2019, as torch.optim.AdamW: p is first
/// multiplied by 1 - lr·λ, then takes Adam's step.
class AdamW final : public Adam {
 public:
  /// Throws Error on a value out of range.
  explicit AdamW(AdamWOptions o = {})
      : Adam("adamw", {o.lr, o.beta1, o.beta2, o.eps, o.weight_decay, o.amsgrad}) {}
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  Factors prepare_with(const Tensor& step, const Tensor& lr, double weight_decay,
                       const Tensor& momentum) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;
};

}  // namespace tightloop::optim
