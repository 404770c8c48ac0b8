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
  /// k and v may have fewer heads (dim -3) than q, each shared by as many heads of q that follow each other
  bool enable_gqa = false;
};

/// torch.nn.functional.scaled_dot_product_attention: q [..., L, E], k [..., S, E], v [..., S, V] → [..., L,
/// V]. See attention() in ops/attention.h. A mask and is_causal may go together. Dropout needs a Context and
/// is drawn anew at every step, the same in the backward pass.
Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const ScaledDotProductOptions& options = {});

/// The weights that v is multiplied by, [..., L, S], after dropout; 0 in a row that sees no column. Held as a
/// whole, unlike in the function above: to look at, or for small sizes.
Tensor attention_weights(const Tensor& q, const Tensor& k, const ScaledDotProductOptions& options = {});

}  // namespace tightloop::nn
