// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

#include <array>

namespace tightloop::optim {

/// The rate of an [A, B] matrix over lr.
enum class MuonRate : std::uint8_t {
  original,         ///< √max(1, A/B)
  match_rms_adamw,  ///< 0.2·√max(A, B): steps as long as AdamW's, so that its lr and weight_decay serve
};

struct MuonOptions {
  double lr = 1e-3;
  double weight_decay = 0.1;  ///< decoupled
  double momentum = 0.95;
  bool nesterov = true;
  std::array<double, 3> ns_coefficients{3.4445, -4.7750, 2.0315};
  double eps = 1e-7;
  int ns_steps = 5;  ///< 0..99
  MuonRate adjust_lr_fn = MuonRate::original;
};

/// Jordan et al., "Muon: an optimizer for hidden layers", 2024, as torch.optim.Muon: b ← b + (1-μ)(g - b); g
/// (with Nesterov g + μ(b - g)) or b is divided by its norm and made nearly orthogonal by Newton-Schulz steps
/// X ← aX + (bXXᵀ + c(XXᵀ)²)X; p ← (1 - lr·λ)p - lr·ratio·X. Computes in the parameter's dtype, where PyTorch
/// rounds X to bf16. For matrices only: check() refuses other parameters.
class Muon final : public Optimizer {
 public:
  /// Throws Error on a value out of range.
  explicit Muon(MuonOptions options = {});
  double lr() const override { return options_.lr; }
  double weight_decay() const override { return options_.weight_decay; }
  std::vector<std::string> slots() const override { return {"momentum_buffer"}; }
  void check(std::string_view path, const TensorType& parameter) const override;
  Factors prepare(const Tensor& step, const Tensor& lr, double weight_decay) const override;
  Update update(const Tensor& parameter, const Tensor& gradient, std::span<const Tensor> slots,
                const Factors& factors, double weight_decay) const override;

 private:
  MuonOptions options_;
};

}  // namespace tightloop::optim
