// SPDX-License-Identifier: Apache-2.0
#pragma once
// Concatenations. Joined inside a loop, every element would look through all parts for its own. Instead each
// part becomes a root, a *piece*, which whatever kernel computes it writes straight to its place in the
// joined value, the *assembly*: that one has memory and no code.
#include <tightloop/ir/graph.h>

#include <cstdint>

namespace tightloop::backends::cpu {

bool is_piece(const ir::Node* n);
bool is_assembly(const ir::Node* n);
/// The axis along which an assembly joins its pieces.
std::size_t joined_axis(const ir::Node* assembly);

/// Concatenations of more than a few elements become assemblies.
ir::Graph lower_concats(const ir::Graph& graph);

}  // namespace tightloop::backends::cpu
