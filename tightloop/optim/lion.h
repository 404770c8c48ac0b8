// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

struct LionOptions {
  double lr = 1e-4;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0;  ///< decoupled
};

/// Chen et al., "Symbolic discovery of optimization algorithms", 2023: p ← p - lr·(sign(β₁m + (1-β₁)g) + λp),
/// m ← β₂m + (1-β₂)g. NaN stays NaN.
class Lion final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit Lion(LionOptions options = {});
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override { return {"exp_avg"}; }
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  LionOptions options_;
};

}  // namespace tightloop::optim
