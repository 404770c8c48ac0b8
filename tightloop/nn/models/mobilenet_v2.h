// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/sequential.h>

namespace tightloop::nn {

struct MobileNetV2Options {
  std::int64_t channels = 3;
  std::int64_t classes = 1000;
  double width = 1;      ///< every layer's channels are multiplied by it and rounded to eights
  double dropout = 0.2;  ///< before the classifier
  bool cifar =
      false;  ///< small images: the first convolution and the first two strided blocks keep their size
};

/// Images [B, channels, H, W] → logits [B, classes]: Sandler et al. (2018), "MobileNetV2: inverted residuals
/// and linear bottlenecks", as torchvision builds and names it (features, classifier).
class MobileNetV2 final : public Layer {
 public:
  /// Throws Error for numbers that make no net.
  explicit MobileNetV2(MobileNetV2Options options = {});
  void fields(Fields& f) override { f("features", features)("classifier", classifier); }
  std::string describe() const override;

  Sequential features, classifier;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  MobileNetV2Options options_;
};

}  // namespace tightloop::nn
