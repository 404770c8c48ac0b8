// SPDX-License-Identifier: Apache-2.0
#pragma once
// The activations that functions.h does not hold, with torch.nn.functional's formulas, names and defaults.
#include <tightloop/ops/functions.h>

namespace tightloop {

/// x, or alpha · (exp(x / alpha) - 1) below 0 (Barron, 2017). Throws Error when alpha is 0.
Tensor celu(Tensor x, double alpha = 1);
/// The first half of the axis times sigmoid of the second. Throws Error unless its length is static and even.
Tensor glu(Tensor x, std::int64_t axis = -1);
/// x, but 0 in -lambda..lambda.
Tensor hardshrink(Tensor x, double lambda = 0.5);
/// x moved towards 0 by lambda, 0 in -lambda..lambda. Throws Error when lambda is negative.
Tensor softshrink(Tensor x, double lambda = 0.5);
/// x - tanh(x)
Tensor tanhshrink(Tensor x);
/// softmax(-x)
Tensor softmin(Tensor x, std::int64_t axis);
/// x above the threshold, else `value`.
Tensor threshold(Tensor x, double threshold, double value);
/// x, or slope · x below 0. slope [1], or [C] for x [B, C, ...].
Tensor prelu(Tensor x, Tensor slope);
/// leaky_relu with a slope drawn in [lower, upper) for each element; without a seed with the middle.
Tensor rrelu(Tensor x, double lower = 1.0 / 8, double upper = 1.0 / 3);
Tensor rrelu(Tensor x, double lower, double upper, Tensor seed, Tensor step, std::int64_t stream);

/// -log(-log(u)) of uniform u: Gumbel's distribution.
Tensor random_gumbel(Shape shape, Tensor seed, Tensor step, std::int64_t stream);
/// softmax((logits + noise) / tau) along an axis (Jang et al., 2017); noise is random_gumbel(), or empty for
/// none. hard: 1 at the largest and 0 elsewhere, with the gradient of the soft values. Throws Error unless
/// tau > 0.
Tensor gumbel_softmax(Tensor logits, Tensor noise, double tau = 1, bool hard = false, std::int64_t axis = -1);

/// (Σ |x|^p)^(1/p) along an axis, which stays as 1; p may be infinite. Gradient 0 at 0. Throws Error unless p
/// > 0.
Tensor p_norm(Tensor x, double p, std::int64_t axis);
/// x / max(p_norm(x), eps)
Tensor normalize(Tensor x, double p = 2, std::int64_t axis = 1, double eps = 1e-12);

}  // namespace tightloop
