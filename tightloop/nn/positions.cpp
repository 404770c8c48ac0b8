// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/positions.h>

#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {
namespace {

/// The angles t / base^(2i/D), [T, pairs].
Tensor angles(std::int64_t length, std::int64_t pairs, std::int64_t features, double base, std::int64_t first,
              DType dtype) {
  const Shape shape{length, pairs};
  const double step = -2 * std::log(base) / static_cast<double>(features);
  return (iota(shape, 0, dtype) + static_cast<double>(first)) * exp(iota(shape, 1, dtype) * step);
}

}  // namespace

Tensor rotary(const Tensor& x, RotaryOptions options) {
  const std::size_t rank = x.rank();
  const bool fits = rank >= 2 && is_compute_float(x.dtype()) && x.dim(rank - 1).is_static() &&
                    x.dim(rank - 2).is_static() && x.dim(rank - 1).factor % 2 == 0;
  if (!fits)
    throw Error(
        fmt::format("rotary: x must be f32 or f64 [..., T, D] with even D, got {}", to_string(x.type())));
  const std::int64_t length = x.dim(rank - 2).factor, features = x.dim(rank - 1).factor;
  auto dims = x.shape().dims();
  dims.back() = options.interleaved ? features / 2 : 2;
  dims.emplace_back(options.interleaved ? 2 : features / 2);
  const std::int64_t axis = options.interleaved ? -1 : -2;
  const Tensor pairs = reshape(x, Shape(dims));
  const Tensor a = squeeze(slice(pairs, axis, 0, 1), axis), b = squeeze(slice(pairs, axis, 1, 2), axis);
  const Tensor angle = angles(length, features / 2, features, options.base, options.first, x.dtype());
  const Tensor c = cos(angle), s = sin(angle);
  return reshape(stack({a * c - b * s, b * c + a * s}, axis), x.shape());
}

Tensor sinusoidal_positions(std::int64_t length, std::int64_t features, DType dtype) {
  const std::int64_t pairs = (features + 1) / 2;
  const Tensor angle = angles(length, pairs, features, 10000, 0, dtype);
  const Tensor both = reshape(stack({sin(angle), cos(angle)}, 2), {length, 2 * pairs});
  return slice(both, 1, 0, features);
}

}  // namespace tightloop::nn
