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
/// Prediction and target are 0..1 (else refused, see checked()); logarithms are held at -100.
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
/// log_target). 0 where the target is 0; negative ones are refused (see checked()).
Tensor kl_div(const Tensor& input, const Tensor& target, KlDivOptions options = {});

struct PoissonNllOptions {
  bool log_input = true;  ///< the input is log(rate), else the rate
  bool full = false;      ///< add log(target!) by Stirling's formula, for targets above 1
  double eps = 1e-8;      ///< added to a rate before its logarithm
  Reduction reduction = Reduction::mean;
};
/// exp(input) - target·input, or input - target·log(input + ε)
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, PoissonNllOptions options = {});

struct GaussianNllOptions {
  bool full = false;  ///< add log(2π)/2
  double eps = 1e-6;  ///< the least variance, ≥ 0
  Reduction reduction = Reduction::mean;
};
/// (log v + (input - target)²/v)/2, v = max(variance, ε), which passes the gradient on as if it were the
/// variance. `variance` is shaped as the input, or has one number a row: [..., 1] or without the last dim.
/// Negative variances are refused (see checked()). In a job the prediction holds the means and then the
/// variances.
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& variance,
                         GaussianNllOptions options = {});

// Targets of the next four are 1 or -1; others are refused (see checked()).

struct MarginOptions {
  double margin = 1;
  Reduction reduction = Reduction::mean;
};
/// input where the target is 1, max(0, margin - input) where it is -1
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target, MarginOptions options = {});
/// log(1 + exp(-target·input))
Tensor soft_margin_loss(const Tensor& input, const Tensor& target, LossOptions options = {});

struct MarginRankingOptions {
  double margin = 0;
  Reduction reduction = Reduction::mean;
};
/// max(0, margin - target·(first - second))
Tensor margin_ranking_loss(const Tensor& first, const Tensor& second, const Tensor& target,
                           MarginRankingOptions options = {});
/// 1 - cos(first, second) where the target is 1, max(0, cos - margin) where it is -1. Vectors [D] or [B, D].
Tensor cosine_embedding_loss(const Tensor& first, const Tensor& second, const Tensor& target,
                             MarginRankingOptions options = {});

struct TripletMarginOptions {
  double margin = 1;  ///< > 0
  double p = 2;       ///< of the norm, > 0
  double eps = 1e-6;  ///< added to each difference
  bool swap = false;  ///< take the negative's distance from the positive where that is smaller
  Reduction reduction = Reduction::mean;
};
/// max(0, margin + ‖anchor - positive + ε‖ - ‖anchor - negative + ε‖), norms over the last dim
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           TripletMarginOptions options = {});

struct MultiMarginOptions {
  int p = 1;  ///< 1 or 2
  double margin = 1;
  Tensor weight = {};  ///< [C], of the target's class; `mean` divides by the rows
  Reduction reduction = Reduction::mean;
};
/// Σ over the other classes i of max(0, margin - x[target] + x[i])ᵖ / C, for scores and targets as
/// cross_entropy takes them.
Tensor multi_margin_loss(const Tensor& scores, const Tensor& target, const MultiMarginOptions& options = {});
LossValue multi_margin_value(const Tensor& scores, const Tensor& target,
                             const MultiMarginOptions& options = {});

/// Σ over the row's classes j and the others i of max(0, 1 - x[j] + x[i]) / C, for scores [C] or [B, C]. The
/// target is shaped as they are and lists the row's classes, then -1; what follows -1 does not count.
Tensor multilabel_margin_loss(const Tensor& scores, const Tensor& target, LossOptions options = {});

struct MultilabelSoftMarginOptions {
  Tensor weight = {};  ///< broadcasts to the logits
  Reduction reduction = Reduction::mean;
};
/// binary_cross_entropy_with_logits averaged over the last dim, then over the rows.
Tensor multilabel_soft_margin_loss(const Tensor& logits, const Tensor& target,
                                   const MultilabelSoftMarginOptions& options = {});

struct CtcInput {
  Tensor log_probabilities;  ///< [T, B, C]
  Tensor targets;            ///< whole numbers [B, S], each row's labels and then anything
  Tensor input_lengths;      ///< whole numbers [B], 1..T
  Tensor target_lengths;     ///< whole numbers [B], 0..S
};
struct CtcOptions {
  std::int64_t blank = 0;
  bool zero_infinity = false;  ///< rows whose labels do not fit into their frames count 0, not infinity
  Reduction reduction = Reduction::mean;  ///< mean: of the rows' losses, each over its target's length
};
/// Graves et al., "Connectionist temporal classification", 2006: -log of the probability that the frames,
/// with repeats and then blanks taken out, read as the labels. Unrolled over the T frames. Lengths and labels
/// out of range, and labels that are the blank, are refused (see checked()).
Tensor ctc_loss(const CtcInput& input, CtcOptions options = {});

}  // namespace tightloop::nn
