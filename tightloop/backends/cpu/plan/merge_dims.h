// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/graph.h>

namespace tightloop::backends::cpu {

/// Height and width of images become one dim wherever everything between two convolutions or poolings walks
/// them together: activations, norms, shortcuts and their sums. Loops then fill whole vectors, which rows of
/// 4 or 7 pixels do not. A graph without convolution and pooling stays as it is.
ir::Graph merge_dims(const ir::Graph& graph);

}  // namespace tightloop::backends::cpu
