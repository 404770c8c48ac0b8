// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn {

/// x
class Identity final : public Layer {
 public:
  std::string describe() const override { return "Identity()"; }

 protected:
  Tensor forward(const Tensor& x) override { return x; }
};

}  // namespace tightloop::nn
