// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

namespace tightloop::nn {

/// Dropout of whole channels (Tompson et al., 2015) of x [B, C, ...]: in training each channel of each sample
/// is zero with probability p, else multiplied by 1/(1-p).
class ChannelDropout : public Layer {
 public:
  std::string describe() const override;

 protected:
  /// `kind` and `name` as messages and tables call it; x has `rank` dims. Throws Error unless 0 ≤ p ≤ 1.
  ChannelDropout(const char* kind, const char* name, double p, std::size_t rank);
  Tensor forward(const Tensor& x) override;

 private:
  const char* kind_;
  const char* label_;
  double p_;
  std::size_t rank_;
};

/// x [B, C, L].
class Dropout1d final : public ChannelDropout {
 public:
  explicit Dropout1d(double p = 0.5) : ChannelDropout("dropout1d", "Dropout1d", p, 3) {}
};

/// x [B, C, H, W].
class Dropout2d final : public ChannelDropout {
 public:
  explicit Dropout2d(double p = 0.5) : ChannelDropout("dropout2d", "Dropout2d", p, 4) {}
};

}  // namespace tightloop::nn
