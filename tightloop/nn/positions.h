// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

namespace tightloop::nn {

struct RotaryOptions {
  double base = 10000;
  bool interleaved = false;  ///< pairs are (0, 1), (2, 3), … as in RoFormer; else (i, i + D/2) as in LLaMA
  std::int64_t first = 0;    ///< position of row 0
};

/// Rotary positions (Su et al., "RoFormer", 2021): x [..., T, D], D even; pair i of row t turns by the angle
/// t / base^(2i/D). Scores of rotated queries and keys depend on distances alone. Throws Error for an odd D.
Tensor rotary(const Tensor& x, RotaryOptions options = {});

/// [T, D] (Vaswani et al., 2017, section 3.5): sin(t / 10000^(2i/D)) at 2i and the cosine at 2i + 1.
Tensor sinusoidal_positions(std::int64_t length, std::int64_t features, DType dtype = DType::f32);

}  // namespace tightloop::nn
