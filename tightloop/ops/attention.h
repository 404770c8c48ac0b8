// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

#include <cstdint>
#include <optional>

namespace tightloop {

struct AttentionOptions {
  /// bool (true: takes part) or floating (added to the scores), broadcasts to [..., L, S]; empty: none
  Tensor mask = {};
  bool causal = false;               ///< row i sees the columns 0..i only
  std::optional<double> scale = {};  ///< of the scores; none: 1/√E
  double dropout = 0;                ///< of the weights, scaled by 1/(1 - p); needs seed and step
  Tensor seed = {}, step = {};       ///< i64 scalars
  std::int64_t stream = 0;
};

/// softmax(scale·q·kᵀ + mask)·v: q [..., L, E], k [..., S, E], v [..., S, V] → [..., L, V], leading dims
/// broadcast. A row that sees no column gives 0, and its gradients are 0. Weights are never held for more
/// than kAttentionRows rows or columns at a time: memory grows with L + S. Throws Error when shapes do not
/// fit.
Tensor attention(Tensor q, Tensor k, Tensor v, const AttentionOptions& options = {});

}  // namespace tightloop
