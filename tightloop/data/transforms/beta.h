// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/transforms/draws.h>

namespace tightloop::data {

/// A number of the distribution Beta(alpha, alpha) for each sample, f32[B]: one uniform through the inverse
/// of the distribution function, a table of 1024 steps with straight lines between. Throws Error unless alpha
/// > 0.
Tensor draw_beta(double alpha, Draws& draws);

/// The q-quantile of Beta(alpha, alpha).
double beta_quantile(double alpha, double q);

}  // namespace tightloop::data
