// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the losses over class indices share.
#include <tightloop/nn/losses/loss.h>
#include <tightloop/ops/functions.h>

#include <optional>

namespace tightloop::nn {

/// [C] as it is; [B, C, ...] with the class axis moved to the end: [B, ..., C]. Throws Error when there is no
/// class axis, it has fewer than 2 classes, or the scores are not floating.
Tensor classes_last(std::string_view loss, const Tensor& scores);

/// Class indices made safe to look up, and how much each row counts.
struct ClassTarget {
  Tensor index;       ///< i64 [rows...], ignored ones replaced by 0
  Tensor row_weight;  ///< dtype of the scores, [rows...]; empty: every row counts 1
  Tensor kept;        ///< bool [rows...]; empty: no row is ignored
};

/// `scores`: [rows..., C]. Throws Error when the target is not integer, has another shape ([B, 1] for [B] is
/// aligned), or `weight` is not [C].
ClassTarget class_target(std::string_view loss, const Tensor& scores, const Tensor& target,
                         const Tensor& weight, std::optional<std::int64_t> ignore_index);

/// `losses`, already weighted by row, reduced; `mean` divides by the sum of the row weights. Refuses targets
/// outside 0..C-1.
LossValue class_loss(std::string_view loss, const Tensor& losses, const ClassTarget& t, std::int64_t classes,
                     Reduction reduction);

/// weight [C] in the dtype of `scores`, checked.
Tensor class_weight(std::string_view loss, const Tensor& scores, const Tensor& weight);

/// Option `ignore_index`; none when not given.
std::optional<std::int64_t> ignore_option(const Options& resolved);

}  // namespace tightloop::nn
