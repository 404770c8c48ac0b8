// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

struct AdamaxOptions {
  double lr = 2e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  ///< L2, added to the gradient
};

/// Kingma & Ba, 2015, section 7.1, as torch.optim.Adamax: m ← β₁m + (1-β₁)g, u ← max(β₂u, |g| + ε),
/// p ← p - lr/(1-β₁ᵗ) · m/u.
class Adamax final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit Adamax(AdamaxOptions options = {});
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override { return {"exp_avg", "exp_inf"}; }
  std::vector<std::string> positive_slots() const override { return {"exp_inf"}; }
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  AdamaxOptions options_;
};

}  // namespace tightloop::optim
