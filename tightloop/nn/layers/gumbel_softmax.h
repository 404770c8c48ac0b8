// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn {

struct GumbelSoftmaxOptions {
  double tau = 1;     ///< temperature
  bool hard = false;  ///< one 1 and zeros, with the gradient of the soft values
  std::int64_t axis = -1;
};

/// A sample of the classes whose logits are x (see gumbel_softmax() in ops/activations.h). Noise is drawn in
/// training only: evaluation gives the same for the same x, unlike torch.nn.functional.gumbel_softmax.
class GumbelSoftmax final : public Layer {
 public:
  /// Throws Error unless tau > 0.
  explicit GumbelSoftmax(GumbelSoftmaxOptions options = {});
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  GumbelSoftmaxOptions options_;
};

}  // namespace tightloop::nn
