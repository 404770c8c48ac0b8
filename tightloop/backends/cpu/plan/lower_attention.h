// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/graph.h>

namespace tightloop::backends::cpu {

/// Attention becomes products and reductions over blocks of rows (ops/attention_blocks.h). This comes after
/// equal nodes were merged: blocks of the forward and the backward pass stay apart, and no weights live from
/// one to the other.
ir::Graph lower_attention(const ir::Graph& graph);

}  // namespace tightloop::backends::cpu
