// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

struct RAdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;  ///< else L2, added to the gradient
};

/// Liu et al., "On the variance of the adaptive learning rate", 2020, as torch.optim.RAdam. With ρ∞ =
/// 2/(1-β₂) - 1 and ρ = ρ∞ - 2tβ₂ᵗ/(1-β₂ᵗ): p ← p - lr/(1-β₁ᵗ) · m, and where ρ > 5 that step times
/// √((ρ-4)(ρ-2)ρ∞ / ((ρ∞-4)(ρ∞-2)ρ)) · √(1-β₂ᵗ)/(√v + ε).
class RAdam final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit RAdam(RAdamOptions options = {});
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override { return {"exp_avg", "exp_avg_sq"}; }
  std::vector<std::string> positive_slots() const override { return {"exp_avg_sq"}; }
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  RAdamOptions options_;
};

}  // namespace tightloop::optim
