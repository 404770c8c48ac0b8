// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/clip.h>

#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <algorithm>

namespace tightloop::optim {
namespace {

void check_positive(const char* what, double value) {
  if (!(value > 0)) throw Error(fmt::format("clip: {} must be greater than 0, got {}", what, value));
}

/// Largest magnitude; 1 in place of 0.
Tensor scale_of(const std::vector<Tensor>& gradients) {
  Tensor largest = scalar(0, DType::f64);
  for (const Tensor& g : gradients) largest = maximum(largest, cast(amax(abs(g)), DType::f64));
  return select(largest > 0.0, largest, scalar(1, DType::f64));
}

}  // namespace

Tensor global_norm(const std::vector<Tensor>& gradients) {
  const bool wide = std::any_of(gradients.begin(), gradients.end(),
                                [](const Tensor& g) { return g.dtype() == DType::f64; });
  const Tensor scale = wide ? scale_of(gradients) : Tensor();
  Tensor squares = scalar(0, DType::f64);
  for (const Tensor& g : gradients) {
    const Tensor x = cast(g, DType::f64);
    squares = squares + sum(square(wide ? x / scale : x));
  }
  return wide ? scale * sqrt(squares) : sqrt(squares);
}

std::vector<Tensor> clip_by_global_norm(const std::vector<Tensor>& gradients, double max_norm) {
  check_positive("max_norm", max_norm);
  const Tensor factor = minimum(scalar(1, DType::f64), max_norm / (global_norm(gradients) + 1e-6));
  std::vector<Tensor> out;
  for (const Tensor& g : gradients) out.push_back(g * cast(factor, g.dtype()));
  return out;
}

std::vector<Tensor> clip_by_value(const std::vector<Tensor>& gradients, double limit) {
  check_positive("limit", limit);
  std::vector<Tensor> out;
  for (const Tensor& g : gradients) out.push_back(clamp(g, -limit, limit));
  return out;
}

}  // namespace tightloop::optim
