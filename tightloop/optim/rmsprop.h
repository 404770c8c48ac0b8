// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

struct RmsPropOptions {
  double lr = 1e-2;
  double alpha = 0.99;  ///< decay of the average of squares
  double eps = 1e-8;
  double weight_decay = 0;  ///< L2, added to the gradient
  double momentum = 0;
  bool centered = false;
};

/// Hinton, "Lecture 6e: rmsprop", 2012, as torch.optim.RMSprop: v ← αv + (1-α)g², d = g / (√v + ε), then
/// p ← p - lr·d, or with momentum b ← μb + d, p ← p - lr·b. `centered` takes the square of the average
/// gradient off v; where rounding makes that negative it counts as 0.
class RmsProp final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit RmsProp(RmsPropOptions options = {});
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override;
  std::vector<std::string> positive_slots() const override { return {"square_avg"}; }
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  RmsPropOptions options_;
};

}  // namespace tightloop::optim
