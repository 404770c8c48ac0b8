// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

#include <vector>

namespace tightloop::optim {

/// √(Σ g²) over all gradients as f64[]. Does not overflow nor lose what is small: f32 is summed in f64, f64
/// is scaled by its largest magnitude.
Tensor global_norm(const std::vector<Tensor>& gradients);
/// Multiplies all by min(1, max_norm / (norm + 1e-6)), as torch.nn.utils.clip_grad_norm_. Throws Error unless
/// max_norm > 0.
std::vector<Tensor> clip_by_global_norm(const std::vector<Tensor>& gradients, double max_norm);
/// Each element held in [-limit, limit]; NaN stays. Throws Error unless limit > 0.
std::vector<Tensor> clip_by_value(const std::vector<Tensor>& gradients, double limit);

}  // namespace tightloop::optim
