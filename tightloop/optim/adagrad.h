// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

struct AdagradOptions {
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;  ///< L2, added to the gradient
  double initial_accumulator_value = 0;
  double eps = 1e-10;
};

/// Duchi, Hazan & Singer, "Adaptive subgradient methods", 2011, as torch.optim.Adagrad: s ← s + g² (from the
/// initial value), p ← p - lr/(1 + (t-1)·lr_decay) · g / (√s + ε).
class Adagrad final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit Adagrad(AdagradOptions options = {});
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override { return {"sum"}; }
  std::vector<std::string> positive_slots() const override { return {"sum"}; }
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  AdagradOptions options_;
};

}  // namespace tightloop::optim
