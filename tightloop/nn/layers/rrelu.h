// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn {

/// x, or slope · x below 0 (Xu et al., 2015): in training each element's slope is drawn in [lower, upper), in
/// evaluation it is the middle.
class RReLU final : public Layer {
 public:
  /// Throws Error unless lower ≤ upper.
  explicit RReLU(double lower = 1.0 / 8, double upper = 1.0 / 3);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  double lower_, upper_;
};

}  // namespace tightloop::nn
