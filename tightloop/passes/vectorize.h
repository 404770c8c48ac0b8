// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

#include <vector>

namespace tightloop {

/// `results` as functions of a new leading axis. Each of `samples` (graph inputs) stands for one entry of
/// that axis, values[i] [n, ...] for all of them; what depends on no sample is computed once and shared.
/// Gives the results [n, ...] as new nodes, which can be differentiated and vectorized again.
///
/// Most ops take one axis more as they are; vectorize_windows.h says what convolutions and pooling do. Random
/// draws whose seed or step differs are made entry by entry. Throws Error when n is symbolic then, and when a
/// rank comes over 8.
std::vector<Tensor> vectorize(const std::vector<Tensor>& results, const std::vector<Tensor>& samples,
                              const std::vector<Tensor>& values);

}  // namespace tightloop
