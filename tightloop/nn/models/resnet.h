// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/conv.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/sequential.h>

#include <array>

namespace tightloop::nn {

struct ResNetOptions {
  std::array<std::int64_t, 4> blocks = {2, 2, 2, 2};  ///< of each stage
  bool bottleneck = false;  ///< blocks of 1 × 1, 3 × 3, 1 × 1 instead of twice 3 × 3
  bool cifar = false;       ///< small images: the stem is a 3 × 3 convolution, without pooling
  std::int64_t channels = 3;
  std::int64_t classes = 1000;
  std::int64_t width = 64;  ///< channels of the first stage
};

/// Images [B, channels, H, W] → logits [B, classes]: He et al. (2016), "Deep residual learning for image
/// recognition", as torchvision builds it (a bottleneck's stride is at its 3 × 3 convolution). Names in the
/// state dict are torchvision's.
class ResNet final : public Layer {
 public:
  /// Throws Error for a number below 1, which calls the model `name`.
  explicit ResNet(ResNetOptions options = {}, const char* name = "resnet");
  void fields(Fields& f) override;
  std::string describe() const override;

  Conv2d conv1;
  BatchNorm2d bn1;
  std::array<Sequential, 4> stages;  ///< layer1 to layer4
  Linear fc;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  ResNetOptions options_;
};

/// The options of these nets, but for images and classes.
ResNetOptions resnet18();
ResNetOptions resnet34();
ResNetOptions resnet50();

}  // namespace tightloop::nn
