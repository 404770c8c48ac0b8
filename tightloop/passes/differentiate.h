// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

#include <vector>

namespace tightloop {

/// Gradients of `loss` with respect to each of `wrt`, as new nodes: reverse mode over the ops' VJP rules. A
/// tensor that loss does not depend on gets zeros. `seed` is the gradient of loss itself (same type); without
/// one loss must be a floating scalar and the seed is 1. The result can be differentiated again. Throws Error
/// for a loss that is not a scalar without a seed, for integers, and for a seed of another type.
std::vector<Tensor> gradients(const Tensor& loss, const std::vector<Tensor>& wrt, Tensor seed = {});

}  // namespace tightloop
