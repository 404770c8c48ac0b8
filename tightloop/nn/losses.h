// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loss functions: torch.nn.functional's names, formulas and defaults. Shapes that differ are an error, never
// broadcast; only [B] and [B, 1] are aligned (aligned_target in losses/loss.h).
#include <tightloop/nn/losses/loss.h>

#include <optional>

namespace tightloop::nn {

struct LossOptions {
  Reduction reduction = Reduction::mean;
};
/// (prediction - target)²
Tensor mse_loss(const Tensor& prediction, const Tensor& target, LossOptions options = {});
/// |prediction - target|
Tensor l1_loss(const Tensor& prediction, const Tensor& target, LossOptions options = {});

struct HuberOptions {
  double delta = 1;  ///< > 0
  Reduction reduction = Reduction::mean;
};
/// e²/2 where |e| < δ, else δ(|e| - δ/2)
Tensor huber_loss(const Tensor& prediction, const Tensor& target, HuberOptions options = {});

struct SmoothL1Options {
  double beta = 1;  ///< ≥ 0; 0 is l1
  Reduction reduction = Reduction::mean;
};
/// e²/2β where |e| < β, else |e| - β/2
Tensor smooth_l1_loss(const Tensor& prediction, const Tensor& target, SmoothL1Options options = {});

struct CrossEntropyOptions {
  Tensor weight = {};                             ///< [C], one for each class
  std::optional<std::int64_t> ignore_index = {};  ///< none: every target must be a class (PyTorch's is -100)
  double label_smoothing = 0;                     ///< 0..1
  Reduction reduction = Reduction::mean;
};
/// logits [C], [B, C] or [B, C, ...]. Targets are class indices (integers, shape without C) or, floating and
/// shaped as the logits, probabilities. `mean` divides by the sum of the rows' weights; a batch in which
/// all is ignored gives 0. Targets outside 0..C-1 are refused (see checked()).
Tensor cross_entropy(const Tensor& logits, const Tensor& target, const CrossEntropyOptions& options = {});
LossValue cross_entropy_value(const Tensor& logits, const Tensor& target,
                              const CrossEntropyOptions& options = {});

struct NllOptions {
  Tensor weight = {};
  std::optional<std::int64_t> ignore_index = {};
  Reduction reduction = Reduction::mean;
};
/// cross_entropy of log-probabilities with class targets.
Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target, const NllOptions& options = {});
LossValue nll_value(const Tensor& log_probabilities, const Tensor& target, const NllOptions& options = {});

struct BceOptions {
  Tensor weight = {};  ///< broadcasts to the prediction
  Reduction reduction = Reduction::mean;
};
/// Probabilities 0..1 (else refused, see checked()); logarithms are held at -100.
Tensor binary_cross_entropy(const Tensor& prediction, const Tensor& target, const BceOptions& options = {});

struct BceLogitsOptions {
  Tensor weight = {};      ///< broadcasts to the logits
  Tensor pos_weight = {};  ///< broadcasts to the logits; multiplies the positive part
  Reduction reduction = Reduction::mean;
};
Tensor binary_cross_entropy_with_logits(const Tensor& logits, const Tensor& target,
                                        const BceLogitsOptions& options = {});

struct KlDivOptions {
  Reduction reduction =
      Reduction::mean;  ///< over elements; `batchmean` is the mathematical divergence for each row
  bool log_target = false;
};
/// target · (log target - input): input holds log-probabilities, target probabilities (logarithms if
/// log_target). 0 where the target is 0.
Tensor kl_div(const Tensor& input, const Tensor& target, KlDivOptions options = {});

}  // namespace tightloop::nn
