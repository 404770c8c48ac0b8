// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  ///< L2, added to the gradient
  bool nesterov = false;    ///< needs momentum and no dampening
};

/// torch.optim.SGD: b ← μ·b + (1-τ)·g (b = g in the first step), p ← p - lr·b, or with Nesterov p - lr·(g +
/// μ·b).
class Sgd final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit Sgd(SgdOptions options = {});
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override;
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  /// None for a momentum of 0.
  std::optional<double> momentum() const override {
    return options_.momentum == 0 ? std::nullopt : std::optional(options_.momentum);
  }
  Factors prepare_with(const Tensor& step, const Tensor& lr, double weight_decay,
                       const Tensor& momentum) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  SgdOptions options_;
};

}  // namespace tightloop::optim
