// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {
namespace {

/// xᵖ, whose gradient at 0 is 0.
Tensor power(const Tensor& x, double p) {
  const Tensor none = x == 0.0;
  const Tensor safe = select(none, ones({}, x.dtype()), x);
  return select(none, zeros({}, x.dtype()), p == 0.5 ? sqrt(safe) : pow(safe, scalar(p, x.dtype())));
}

/// The p-norm of a - b + ε over the last dim.
Tensor distance(const Tensor& a, const Tensor& b, const TripletMarginOptions& o) {
  const Tensor d = abs(a - b + o.eps);
  if (o.p == 1) return sum(d, {-1});
  if (o.p == 2) return power(sum(square(d), {-1}), 0.5);
  if (std::isinf(o.p)) return amax(d, {-1});
  return power(sum(power(d, o.p), {-1}), 1 / o.p);
}

}  // namespace

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           TripletMarginOptions options) {
  if (!(options.margin > 0))
    throw Error(fmt::format("triplet_margin: margin must be greater than 0, got {}", options.margin));
  if (!(options.p > 0))
    throw Error(fmt::format("triplet_margin: p must be greater than 0, got {}", options.p));
  if (anchor.rank() == 0) throw Error("triplet_margin: vectors must have a dim to measure over, got scalars");
  const Tensor with = aligned_target("triplet_margin", anchor, positive);
  const Tensor without = aligned_target("triplet_margin", anchor, negative);
  Tensor far = distance(anchor, without, options);
  if (options.swap) far = minimum(far, distance(with, without, options));
  return reduced(clamp(options.margin + distance(anchor, with, options) - far, 0, {}), options.reduction);
}

}  // namespace tightloop::nn
