// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convolutions and pooling in a plan: each is a kernel of its own that reads and writes whole arrays.
#include <tightloop/ir/graph.h>
#include <tightloop/ops/window.h>

namespace tightloop::backends::cpu {

/// Convolutions, pooling, plane_gather and plane_scatter.
bool is_window(const ir::Node* n);

/// The gradient of a convolution's weight from consecutive pieces of the batch, [pieces, O, C/groups,
/// kernel...]; their sum is convolution_weight_grad. Made by split_weight_gradients() alone.
bool is_weight_pieces(const ir::Node* n);

/// Of any of the convolution ops, weight pieces included.
ops::ConvolutionShape convolution_of(const ir::Node& n);

/// Weight gradients become pieces and their sum, so that threads share them out and what reads them becomes
/// the sum's epilogue. How many pieces follows from the weight's shape: no bit depends on the threads.
ir::Graph split_weight_gradients(const ir::Graph& graph);

/// f32 convolutions that oneDNN computes: those with many products, and channels enough to fill its vectors.
bool is_library_convolution(const ir::Node& n);

}  // namespace tightloop::backends::cpu
