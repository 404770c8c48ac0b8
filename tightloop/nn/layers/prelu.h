// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn {

/// x, or weight · x below 0 (He et al., 2015): weight [1] for all, or [C] for the channels of x [B, C, ...].
class PReLU final : public Layer {
 public:
  /// weight starts at `init`. Throws Error unless count ≥ 1.
  explicit PReLU(std::int64_t count = 1, double init = 0.25);
  void fields(Fields& f) override { f("weight", weight); }
  std::string describe() const override;

  Parameter weight;

 protected:
  Tensor forward(const Tensor& x) override;
};

}  // namespace tightloop::nn
