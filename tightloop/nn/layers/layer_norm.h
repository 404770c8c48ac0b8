// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>

#include <optional>

namespace tightloop::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;  ///< with weight
  bool bias = true;                ///< and bias
};

/// Layer normalisation (Ba et al., 2016): x [..., shape...] is centred and scaled with mean and biased
/// variance over the last dims, which are `shape`; times weight [shape...] (starts at 1) plus bias (starts at
/// 0).
class LayerNorm final : public Layer {
 public:
  /// Throws Error for an empty shape, a dim below 1 and eps ≤ 0.
  explicit LayerNorm(std::vector<std::int64_t> shape, LayerNormOptions options = {});
  explicit LayerNorm(std::int64_t features, LayerNormOptions options = {})
      : LayerNorm(std::vector<std::int64_t>{features}, options) {}
  void fields(Fields& f) override;
  std::string describe() const override;

  std::optional<Parameter> weight, bias;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  std::vector<std::int64_t> shape_;
  double eps_;
};

}  // namespace tightloop::nn
