// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

#include <optional>

namespace tightloop::nn {

enum class Upsampling : std::uint8_t {
  nearest,   ///< x [B, C, L], [B, C, H, W] or [B, C, D, H, W]
  linear,    ///< x [B, C, L]
  bilinear,  ///< x [B, C, H, W]
};

struct UpsampleOptions {
  std::vector<std::int64_t> size = {};    ///< of the result, behind [B, C]; one number serves all dims
  std::vector<double> scale_factor = {};  ///< or its size relative to x; one number serves all dims
  Upsampling mode = Upsampling::nearest;
  bool align_corners = false;  ///< linear and bilinear: corner points keep their places, not corner edges
};

/// x [B, C, ...] on a finer (or coarser) grid: torch.nn.Upsample. Linear weights form a small matrix for each
/// axis, so a NaN or infinity reaches its whole line.
class Upsample final : public Layer {
 public:
  /// Throws Error unless exactly one of size and scale_factor is given, of positive numbers.
  explicit Upsample(UpsampleOptions options);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  UpsampleOptions options_;
};

}  // namespace tightloop::nn
