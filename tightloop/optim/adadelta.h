// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

struct AdadeltaOptions {
  double lr = 1;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0;  ///< L2, added to the gradient
};

/// Zeiler, "ADADELTA: an adaptive learning rate method", 2012, as torch.optim.Adadelta: v ← ρv + (1-ρ)g²,
/// d = √(u + ε)/√(v + ε) · g, u ← ρu + (1-ρ)d², p ← p - lr·d.
class Adadelta final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit Adadelta(AdadeltaOptions options = {});
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override { return {"square_avg", "acc_delta"}; }
  std::vector<std::string> positive_slots() const override { return {"square_avg", "acc_delta"}; }
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  AdadeltaOptions options_;
};

}  // namespace tightloop::optim
