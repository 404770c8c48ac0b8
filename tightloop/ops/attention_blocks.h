// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the op `attention` means, in other ops, block by block: for its gradient and for backends that have no
// kernel of their own.
#include <tightloop/ops/rules.h>

namespace tightloop::ops {

/// Rows (and, in the gradient of k and v, columns) whose weights exist at a time.
inline constexpr std::int64_t kAttentionRows = 64;

/// A node of op `attention`, taken apart.
struct AttentionParts {
  Tensor q, k, v;             ///< [..., L, E], [..., S, E], [..., S, V]
  Tensor k_turned, v_turned;  ///< [..., E, S], [..., V, S]: turned once, for all blocks
  Tensor mask, seed, step;    ///< or empty
  double scale = 1;
  double dropout = 0;
  bool causal = false;
  std::int64_t stream = 0;

  std::int64_t rows() const { return q.dim(q.rank() - 2).factor; }
  std::int64_t columns() const { return k.dim(k.rank() - 2).factor; }
};
AttentionParts attention_parts(const ir::Node& node, const Tensors& inputs);

/// The two parts of an attention node's value.
struct AttentionValue {
  Tensor output;     ///< [..., L, V]
  Tensor logsumexp;  ///< [..., L, 1], of the scores of a row; 0 where it sees no column
};
AttentionValue attention_by_blocks(const AttentionParts& a);

/// Gradients in the order of the node's inputs. `g_logsumexp` may be empty: zero.
Tensors attention_gradients(const AttentionParts& a, const AttentionValue& y, const Tensor& g_output,
                            const Tensor& g_logsumexp);

}  // namespace tightloop::ops
