// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/conv.h>
#include <tightloop/nn/layers/linear.h>

namespace tightloop::nn {

struct LeNet5Options {
  std::int64_t channels = 1;  ///< of the image
  std::int64_t size = 28;     ///< its height and width: 28, padded to 32 by the first convolution, or 32
  std::int64_t classes = 10;
};

/// Images [B, channels, size, size] or [B, size, size] → logits [B, classes]. The net of LeCun et al. (1998),
/// "Gradient- based learning applied to document recognition", with plain averages for pooling, full
/// connections between the convolutions, and a linear last layer: conv1, conv2, fc1, fc2, fc3, tanh between
/// them.
class LeNet5 final : public Layer {
 public:
  /// Throws Error for other sizes.
  explicit LeNet5(LeNet5Options options = {});
  void fields(Fields& f) override { f("conv1", conv1)("conv2", conv2)("fc1", fc1)("fc2", fc2)("fc3", fc3); }
  std::string describe() const override;

  Conv2d conv1, conv2;
  Linear fc1, fc2, fc3;

 protected:
  Tensor forward(const Tensor& x) override;
};

}  // namespace tightloop::nn
