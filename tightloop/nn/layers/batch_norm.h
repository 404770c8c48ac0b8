// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/channel_norm.h>

namespace tightloop::nn {

using BatchNormOptions = ChannelNormOptions;

/// Batch normalisation (Ioffe & Szegedy, 2015) of x [B, C], [B, C, L], [B, C, H, W] or [B, C, D, H, W]: each
/// channel is centred and scaled with mean and biased variance over all else. The running variance takes the
/// unbiased one. In training a channel with one value has no variance: refused (see checked_rows()).
class BatchNorm : public ChannelNorm {
 public:
  explicit BatchNorm(std::int64_t channels, BatchNormOptions options = {});

 protected:
  BatchNorm(const char* name, std::int64_t channels, BatchNormOptions options, std::size_t low,
            std::size_t high);
  Tensor normalize(const Tensor& x) override;
};

/// x [B, C] or [B, C, L].
class BatchNorm1d final : public BatchNorm {
 public:
  explicit BatchNorm1d(std::int64_t channels, BatchNormOptions options = {});
};

/// x [B, C, H, W].
class BatchNorm2d final : public BatchNorm {
 public:
  explicit BatchNorm2d(std::int64_t channels, BatchNormOptions options = {});
};

/// x [B, C, D, H, W].
class BatchNorm3d final : public BatchNorm {
 public:
  explicit BatchNorm3d(std::int64_t channels, BatchNormOptions options = {});
};

}  // namespace tightloop::nn
