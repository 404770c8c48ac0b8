// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

#include <optional>

namespace tightloop::nn {

struct RMSNormOptions {
  std::optional<double> eps = {};  ///< none: the smallest step of x's dtype above 1
  bool elementwise_affine = true;
};

/// Root mean square normalisation (Zhang & Sennrich, 2019): x / √(mean(x²) + eps) over the last dims, which
/// are `shape`, times weight [shape...] (starts at 1).
class RMSNorm final : public Layer {
 public:
  /// Throws Error for an empty shape, a dim below 1 and eps < 0.
  explicit RMSNorm(std::vector<std::int64_t> shape, RMSNormOptions options = {});
  explicit RMSNorm(std::int64_t features, RMSNormOptions options = {})
      : RMSNorm(std::vector<std::int64_t>{features}, options) {}
  void fields(Fields& f) override;
  std::string describe() const override;

  std::optional<Parameter> weight;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::vector<std::int64_t> shape_;
  std::optional<double> eps_;
};

}  // namespace tightloop::nn
