// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

struct LambOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-6;
  double weight_decay = 1e-2;
};

/// You et al., "Large batch optimization for deep learning", 2020: with m̂ and v̂ of Adam, u = m̂/(√v̂ + ε) + λp,
/// p ← p - lr · ‖p‖/‖u‖ · u, the norms over the whole parameter; their ratio is 1 where either is 0.
class Lamb final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit Lamb(LambOptions options = {});
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override { return {"exp_avg", "exp_avg_sq"}; }
  std::vector<std::string> positive_slots() const override { return {"exp_avg_sq"}; }
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  LambOptions options_;
};

}  // namespace tightloop::optim
