// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>

namespace tightloop {
namespace {

using namespace ops;

Tensor zero_like(const Tensor& x) { return number_like(x, 0); }

/// x where it is negative or zero, else 0: keeps exp() of a branch not taken finite.
Tensor negative_part(const Tensor& x) { return select(x > 0, zero_like(x), x); }

/// log(1 + exp(x)) without overflow.
Tensor stable_softplus(const Tensor& x) { return maximum(x, zero_like(x)) + log1p(exp(-abs(x))); }

}  // namespace

Tensor relu(Tensor x) {
  x = computable(std::move(x));
  return select(x <= 0, zero_like(x), x);
}

Tensor log_sigmoid(Tensor x) {
  x = floating(std::move(x));
  return minimum(x, zero_like(x)) - log1p(exp(-abs(x)));
}

Tensor softplus(Tensor x, double beta, double threshold) {
  if (beta == 0) throw Error("softplus: beta must not be 0");
  x = floating(std::move(x));
  const Tensor scaled = beta == 1 ? x : x * beta;
  const Tensor smooth = beta == 1 ? stable_softplus(x) : stable_softplus(scaled) / beta;
  return select(scaled > threshold, x, smooth);
}

Tensor silu(Tensor x) { return x * sigmoid(x); }

Tensor gelu(Tensor x, Gelu kind) {
  x = floating(std::move(x));
  constexpr double sqrt_half = 0.70710678118654752440;
  if (kind == Gelu::erf) return x * 0.5 * (erf(x * sqrt_half) + 1.0);
  constexpr double twice_sqrt_two_over_pi = 1.59576912160573071176;  // 0.5 (1 + tanh u) = sigmoid(2 u)
  return x * sigmoid(x * (x * x * (0.044715 * twice_sqrt_two_over_pi) + twice_sqrt_two_over_pi));
}

Tensor leaky_relu(Tensor x, double negative_slope) {
  x = floating(std::move(x));
  return select(x > 0, x, x * negative_slope);
}

Tensor elu(Tensor x, double alpha) {
  x = floating(std::move(x));
  const Tensor bent = expm1(negative_part(x));
  return select(x > 0, x, alpha == 1 ? bent : bent * alpha);
}

Tensor selu(Tensor x) {
  constexpr double alpha = 1.6732632423543772848170429916717;
  constexpr double scale = 1.0507009873554804934193349852946;
  x = floating(std::move(x));
  return select(x > 0, x * scale, expm1(negative_part(x)) * (scale * alpha));
}

Tensor hardtanh(Tensor x, double low, double high) {
  if (low > high)
    throw Error("hardtanh: low " + std::to_string(low) + " is above high " + std::to_string(high));
  x = floating(std::move(x));
  return select(x <= low, number_like(x, low), select(x >= high, number_like(x, high), x));
}

Tensor relu6(Tensor x) { return hardtanh(std::move(x), 0, 6); }
Tensor mish(Tensor x) { return x * tanh(softplus(x)); }
Tensor hardswish(Tensor x) { return x * relu6(x + 3.0) / 6.0; }
Tensor hardsigmoid(Tensor x) { return relu6(x + 3.0) / 6.0; }
Tensor softsign(Tensor x) { return x / (abs(x) + 1.0); }

}  // namespace tightloop
