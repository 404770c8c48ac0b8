// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

#include <vector>

namespace tightloop {

/// A convolution op (forward, or one of its gradients), pooling op, plane_gather or plane_scatter for each
/// entry of a leading axis of n. mapped[i] is input i for all entries, [n, ...]; empty where they share it.
/// Gives the results [n, ...].
///
/// The axis becomes part of the batch where the entries share the weight, else of the channels: the inputs',
/// the results', or both as groups. Channels are numbers, so when n is a symbol and the weights differ, the
/// convolution is a product with the elements of its windows. Throws Error when n and the batch are symbols
/// both.
Tensor vectorize_windows(const ir::Node& node, const Dim& n, const std::vector<Tensor>& mapped);

}  // namespace tightloop
