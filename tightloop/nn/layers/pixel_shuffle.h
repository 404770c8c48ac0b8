// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn {

/// x [B, C·r², H, W] → [B, C, H·r, W·r]: r² channels become an r×r patch (Shi et al., 2016).
class PixelShuffle final : public Layer {
 public:
  /// Throws Error unless r ≥ 1.
  explicit PixelShuffle(std::int64_t upscale_factor);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::int64_t r_;
};

/// The inverse: x [B, C, H·r, W·r] → [B, C·r², H, W].
class PixelUnshuffle final : public Layer {
 public:
  explicit PixelUnshuffle(std::int64_t downscale_factor);
  std::string describe() const override;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::int64_t r_;
};

}  // namespace tightloop::nn
