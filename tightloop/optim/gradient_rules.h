// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

#include <vector>

namespace tightloop::optim {

/// What is done to the gradients before the update rule gets them, in this order; 0 leaves a step out.
struct GradientRules {
  /// Subtracts from the gradient of a matrix, or of more dims, its mean over all dims but the first (Yong et
  /// al., "Gradient centralization", 2020).
  bool centralize = false;
  double clip_value = 0;  ///< clip_by_value
  double clip_norm = 0;   ///< clip_by_global_norm
  /// Adds noise of variance noise / (1 + step)^0.55 (Neelakantan et al., "Adding gradient noise improves
  /// learning for very deep networks", 2015).
  double noise = 0;
};

/// Throws Error for a limit that is negative or not finite.
void check(const GradientRules& rules);
/// The gradients after `rules`. `seed` and `step` (i64[]) name the draw of the noise.
std::vector<Tensor> apply(const GradientRules& rules, std::vector<Tensor> gradients, const Tensor& seed,
                          const Tensor& step);

}  // namespace tightloop::optim
