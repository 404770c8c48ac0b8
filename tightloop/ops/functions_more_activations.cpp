// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/activations.h>
#include <tightloop/ops/build.h>

#include <cmath>

namespace tightloop {
namespace {

using namespace ops;

/// (Σ |x|^p)^(1/p) for a finite p, of which x has some element that is not 0.
Tensor finite_norm(const Tensor& size, double p, std::int64_t axis) {
  if (p == 1) return sum(size, {axis}, true);
  const Tensor zero = number_like(size, 0), one = number_like(size, 1);
  const Tensor powers =
      p == 2 ? size * size
             : select(size > 0.0, pow(select(size > 0.0, size, one), number_like(size, p)), zero);
  const Tensor total = sum(powers, {axis}, true);
  const Tensor safe = select(total > 0.0, total, one);
  return select(total > 0.0, p == 2 ? sqrt(safe) : pow(safe, number_like(safe, 1 / p)), total);
}

}  // namespace

Tensor celu(Tensor x, double alpha) {
  if (alpha == 0) throw Error("celu: alpha must not be 0");
  x = floating(std::move(x));
  const Tensor negative = select(x > 0, number_like(x, 0), x);
  return select(x > 0, x, alpha == 1 ? expm1(negative) : expm1(negative / alpha) * alpha);
}

Tensor glu(Tensor x, std::int64_t axis) {
  x = floating(std::move(x));
  const std::int64_t front = front_axis("glu", axis, x.rank());
  const Dim& dim = x.dim(static_cast<std::size_t>(front));
  if (!dim.is_static() || dim.factor % 2 != 0)
    throw Error("glu: axis " + std::to_string(axis) + " must have an even length, x is " +
                to_string(x.type()));
  const std::int64_t half = dim.factor / 2;
  return slice(x, front, 0, half) * sigmoid(slice(x, front, half, dim.factor));
}

Tensor hardshrink(Tensor x, double lambda) {
  x = floating(std::move(x));
  return select(logical_and(x >= -lambda, x <= lambda), number_like(x, 0), x);
}

Tensor softshrink(Tensor x, double lambda) {
  if (!(lambda >= 0)) throw Error("softshrink: lambda must be 0 or more, not " + std::to_string(lambda));
  x = floating(std::move(x));
  const Tensor inside = logical_and(x >= -lambda, x <= lambda);
  return select(inside, number_like(x, 0), select(x > 0.0, x - lambda, x + lambda));
}

Tensor tanhshrink(Tensor x) {
  x = floating(std::move(x));
  return x - tanh(x);
}

Tensor softmin(Tensor x, std::int64_t axis) { return softmax(-floating(std::move(x)), axis); }

Tensor threshold(Tensor x, double threshold, double value) {
  x = floating(std::move(x));
  return select(x <= threshold, number_like(x, value), x);
}

Tensor prelu(Tensor x, Tensor slope) {
  x = floating(std::move(x));
  const bool one = slope.shape() == Shape{1};
  if (!one && (x.rank() < 2 || slope.rank() != 1 || slope.dim(0) != x.dim(1)))
    throw Error("prelu: the slope must be [1], or [C] for x [B, C, ...]; they are " +
                to_string(slope.type()) + " and " + to_string(x.type()));
  std::vector<Dim> dims(x.rank(), Dim(1));
  if (!one) dims[1] = slope.dim(0);
  return select(x > 0, x, x * reshape(std::move(slope), Shape(std::move(dims))));
}

Tensor rrelu(Tensor x, double lower, double upper) { return leaky_relu(std::move(x), (lower + upper) / 2); }

Tensor rrelu(Tensor x, double lower, double upper, Tensor seed, Tensor step, std::int64_t stream) {
  x = floating(std::move(x));
  const Tensor u = random_uniform(x.shape(), std::move(seed), std::move(step), stream, x.dtype());
  return select(x > 0, x, x * (u * (upper - lower) + lower));
}

Tensor random_gumbel(Shape shape, Tensor seed, Tensor step, std::int64_t stream) {
  const Tensor u = random_uniform(std::move(shape), std::move(seed), std::move(step), stream);
  return -log(-log(maximum(u, scalar(0x1p-25))));
}

Tensor gumbel_softmax(Tensor logits, Tensor noise, double tau, bool hard, std::int64_t axis) {
  if (!(tau > 0)) throw Error("gumbel_softmax: tau must be above 0, not " + std::to_string(tau));
  logits = floating(std::move(logits));
  const std::int64_t front = front_axis("gumbel_softmax", axis, logits.rank());
  const Tensor soft = softmax((noise.defined() ? logits + noise : logits) / tau, front);
  if (!hard) return soft;
  const Tensor chosen = equal(iota(soft.shape(), front), argmax(soft, front, true));
  return stop_gradient(cast(chosen, soft.dtype()) - soft) + soft;
}

Tensor p_norm(Tensor x, double p, std::int64_t axis) {
  if (!(p > 0)) throw Error("p_norm: p must be above 0, not " + std::to_string(p));
  const Tensor size = abs(floating(std::move(x)));
  return std::isinf(p) ? amax(size, {axis}, true) : finite_norm(size, p, axis);
}

Tensor normalize(Tensor x, double p, std::int64_t axis, double eps) {
  x = floating(std::move(x));
  const Tensor norm = p_norm(x, p, axis);
  return x / maximum(norm, number_like(norm, eps));
}

}  // namespace tightloop
