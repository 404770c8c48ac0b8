// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

#include <optional>

namespace tightloop::nn {

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
};

/// Group normalisation (Wu & He, 2018) of x [B, C, ...]: the channels are cut into `groups`, each centred and
/// scaled in each sample with its mean and biased variance; times weight [C] (starts at 1) plus bias [C]
/// (starts at 0).
class GroupNorm final : public Layer {
 public:
  /// Throws Error unless the groups divide the channels and eps > 0.
  GroupNorm(std::int64_t groups, std::int64_t channels, GroupNormOptions options = {});
  void fields(Fields& f) override;
  std::string describe() const override;

  std::optional<Parameter> weight, bias;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::int64_t groups_, channels_;
  double eps_;
};

}  // namespace tightloop::nn
