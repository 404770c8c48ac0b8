// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

#include <optional>

namespace tightloop::nn {

struct ScaledDotProductOptions {
  /// bool (true: takes part) or floating (added to the scores), broadcasts to [..., L, S]
  Tensor attn_mask = {};
  double dropout_p = 0;  ///< of the weights, in training only
  bool is_causal = false;
  std::optional<double> scale = {};  ///< none: 1/√E
};

/// torch.nn.functional.scaled_dot_product_attention: q [..., L, E], k [..., S, E], v [..., S, V] → [..., L,
/// V]. See attention() in ops/attention.h. A mask and is_causal may go together. Dropout needs a Context and
/// is drawn anew at every step, the same in the backward pass.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const ScaledDotProductOptions& options = {});

}  // namespace tightloop::nn
