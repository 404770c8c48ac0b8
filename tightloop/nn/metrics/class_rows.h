// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/options.h>
#include <tightloop/ir/tensor.h>

#include <optional>
#include <string_view>

namespace tightloop::nn {

/// What metrics over classes compare.
struct ClassRows {
  Tensor scores;  ///< [rows..., C]
  Tensor target;  ///< i64 [rows...]
  Tensor kept;    ///< bool [rows...]; empty: all count
};

/// As cross_entropy takes them: logits [B, C, ...] and class indices, or probabilities, whose largest is the
/// target.
ClassRows class_rows(std::string_view metric, const Tensor& prediction, const Tensor& target,
                     std::optional<std::int64_t> ignore_index);
/// How many of `hit` (bool [rows...]) are true, and how many rows count, as f64[].
Tensor hits(const Tensor& hit, const ClassRows& rows);
Tensor counted(const ClassRows& rows);

}  // namespace tightloop::nn
