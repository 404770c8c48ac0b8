// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/sequential.h>

namespace tightloop::nn {

struct VggOptions {
  int layers = 16;  ///< 11, 13, 16 or 19, counting those with weights
  bool batch_norm = false;
  std::int64_t channels = 3;
  std::int64_t classes = 1000;
  std::int64_t width = 64;     ///< channels of the first stage
  std::int64_t hidden = 4096;  ///< of the classifier's two inner layers
  double dropout = 0.5;
};

/// Images [B, channels, H, W] → logits [B, classes]: Simonyan & Zisserman (2015), "Very deep convolutional
/// networks for large-scale image recognition", configurations A, B, D and E as torchvision builds and names
/// them (features, classifier). H and W are 32 or more.
class Vgg final : public Layer {
 public:
  /// Throws Error for another number of layers and numbers below 1, which calls the model `name`.
  explicit Vgg(VggOptions options = {}, const char* name = "vgg");
  void fields(Fields& f) override { f("features", features)("classifier", classifier); }
  std::string describe() const override;

  Sequential features, classifier;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  VggOptions options_;
};

}  // namespace tightloop::nn
