// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

namespace tightloop::optim {

struct AdamOptions {
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
};

/// Kingma & Ba, "Adam: a method for stochastic optimization", 2015, as torch.optim.Adam; with amsgrad after
/// Reddi et al., 2018. m ← β₁m + (1-β₁)g, v ← β₂v + (1-β₂)g², p ← p - lr/(1-β₁ᵗ) · m / (√v/√(1-β₂ᵗ) + ε).
/// Weight decay is L2, added to the gradient.
class Adam : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit Adam(AdamOptions options = {}) : Adam("adam", options) {}
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override;
  std::vector<std::string> positive_slots() const override { return {"exp_avg_sq", "max_exp_avg_sq"}; }
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  std::optional<double> momentum() const override { return options_.beta1; }
  Factors prepare_with(const Tensor& step, const Tensor& lr, double weight_decay,
                       const Tensor& momentum) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 protected:
  Adam(std::string_view name, AdamOptions options);
  /// The step without weight decay.
  Update step(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
              const Factors& factors) const;

 private:
  AdamOptions options_;
};

/// The options that adam and adamw take in a job file.
std::vector<OptionSpec> adam_options(double weight_decay);
AdamOptions adam_options_of(std::string_view optimizer, const Options& resolved);

}  // namespace tightloop::optim
