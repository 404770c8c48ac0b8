// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/channel_norm.h>

namespace tightloop::nn {

/// As torch.nn.InstanceNorm: by default neither weights nor running statistics.
struct InstanceNormOptions {
  double eps = 1e-5;
  double momentum = 0.1;
  bool affine = false;
  bool track_running_stats = false;
};

/// Instance normalisation (Ulyanov et al., 2016) of x [B, C, L], [B, C, H, W] or [B, C, D, H, W]: each
/// channel of each sample with its own mean and biased variance. As in PyTorch the running statistics, if
/// kept, take the batch's average of the samples' means and unbiased variances, and num_batches_tracked stays
/// 0. Throws Error when a channel of a sample is one value.
class InstanceNorm : public ChannelNorm {
 public:
  explicit InstanceNorm(std::int64_t channels, InstanceNormOptions options = {});

 protected:
  InstanceNorm(const char* name, std::int64_t channels, const InstanceNormOptions& options, std::size_t low,
               std::size_t high);
  Tensor normalize(const Tensor& x) override;
};

/// x [B, C, L].
class InstanceNorm1d final : public InstanceNorm {
 public:
  explicit InstanceNorm1d(std::int64_t channels, InstanceNormOptions options = {});
};

/// x [B, C, H, W].
class InstanceNorm2d final : public InstanceNorm {
 public:
  explicit InstanceNorm2d(std::int64_t channels, InstanceNormOptions options = {});
};

}  // namespace tightloop::nn
