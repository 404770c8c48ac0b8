// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

struct NAdamOptions {
  double lr = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;  ///< else L2, added to the gradient
};

/// Dozat, "Incorporating Nesterov momentum into Adam", 2016, as torch.optim.NAdam: averages m and v of Adam,
/// and μₜ = β₁(1 - ½·0.96^(t·momentum_decay)); the step is lr·((1-μₜ)/(1-Πμ) · g + μₜ₊₁/(1-Πμ·μₜ₊₁) · m) over
/// √v/√(1-β₂ᵗ) + ε. The product Πμ follows from t alone and is no state.
class NAdam final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit NAdam(NAdamOptions options = {});
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override { return {"exp_avg", "exp_avg_sq"}; }
  std::vector<std::string> positive_slots() const override { return {"exp_avg_sq"}; }
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  NAdamOptions options_;
};

}  // namespace tightloop::optim
