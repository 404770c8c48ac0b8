// SPDX-License-Identifier: Apache-2.0
#pragma once
// What Embedding and EmbeddingBag share: a table of rows [num, dim] that ids choose from. `layer` names the
// layer in messages.
#include <tightloop/nn/layers/layer.h>

#include <optional>

namespace tightloop::nn {

/// padding_idx counted from the front. Throws Error when there is no such row.
std::optional<std::int64_t> padding_row(const char* layer, std::int64_t num,
                                        std::optional<std::int64_t> given);
/// [num, dim] from N(0, 1), the padding row 0. Throws Error unless both are at least 1.
Parameter table_weight(const char* layer, std::int64_t num, std::int64_t dim,
                       std::optional<std::int64_t> padding);
/// ids as i64; throws Error when they are no integers.
Tensor table_index(const char* layer, const Tensor& ids);
/// `result`, with ids outside 0..num-1 refused (see checked()).
Tensor checked_ids(const char* layer, Tensor result, const Tensor& index, std::int64_t num);

}  // namespace tightloop::nn
