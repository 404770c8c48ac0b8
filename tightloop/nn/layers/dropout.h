// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn {

/// What the dropout layers share: in training, where a mask of `mask` (which broadcasts to x) says so, 0,
/// else x / (1-p); else x itself. Throws Error naming the layer when x is not floating.
Tensor dropped(const char* layer, const Tensor& x, double p, const Shape& mask);

/// In training zeroes each element with probability p and multiplies the others by 1/(1-p); else the
/// identity. The mask is a function of (seed, step, layer, element): computed where it is used, never stored.
class Dropout final : public Layer {
 public:
  /// Throws Error unless 0 ≤ p ≤ 1.
  explicit Dropout(double p = 0.5);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  double p_;
};

}  // namespace tightloop::nn
