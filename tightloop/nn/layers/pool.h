// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pooling over 1, 2 or 3 spatial dims, as functions_spatial.h defines it. No parameters.
#include <tightloop/nn/layers/layer.h>
#include <tightloop/ops/functions_spatial.h>

#include <functional>

namespace tightloop::nn {

/// A pooling function as a layer.
class Pool : public Layer {
 public:
  std::string describe() const override { return text_; }

 protected:
  using Function = std::function<Tensor(const Tensor& x)>;
  /// `name` and `torch`: as in "max_pool2d" and "MaxPool2d", without the dims.
  Pool(const std::string& name, const std::string& torch, std::size_t spatial, const PerDim& size,
       Function function);
  Tensor forward(const Tensor& x) override;

 private:
  std::string layer_, text_;
  std::size_t spatial_;
  Function function_;
};

/// What else a max pooling takes; see MaxPoolOptions.
struct MaxPoolLayerOptions {
  std::optional<PerDim> stride = {};  ///< the kernel when not given
  PerDim padding = 0;                 ///< at most half the kernel
  PerDim dilation = 1;
  bool ceil_mode = false;
};

template <std::size_t spatial>
class MaxPoolNd final : public Pool {
 public:
  explicit MaxPoolNd(const PerDim& kernel, const MaxPoolLayerOptions& o = {})
      : Pool("max_pool", "MaxPool", spatial, kernel, [=](const Tensor& x) {
          return max_pool(x, {kernel, o.stride, o.padding, o.dilation, o.ceil_mode});
        }) {}
};
using MaxPool1d = MaxPoolNd<1>;
using MaxPool2d = MaxPoolNd<2>;
using MaxPool3d = MaxPoolNd<3>;

/// What else an average pooling takes; see AvgPoolOptions.
struct AvgPoolLayerOptions {
  std::optional<PerDim> stride = {};
  PerDim padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;
};

template <std::size_t spatial>
class AvgPoolNd final : public Pool {
 public:
  explicit AvgPoolNd(const PerDim& kernel, const AvgPoolLayerOptions& o = {})
      : Pool("avg_pool", "AvgPool", spatial, kernel, [=](const Tensor& x) {
          return avg_pool(x, {kernel, o.stride, o.padding, o.ceil_mode, o.count_include_pad});
        }) {}
};
using AvgPool1d = AvgPoolNd<1>;
using AvgPool2d = AvgPoolNd<2>;
using AvgPool3d = AvgPoolNd<3>;

template <std::size_t spatial>
class AdaptiveMaxPoolNd final : public Pool {
 public:
  explicit AdaptiveMaxPoolNd(const PerDim& size)
      : Pool("adaptive_max_pool", "AdaptiveMaxPool", spatial, size,
             [=](const Tensor& x) { return adaptive_max_pool(x, size); }) {}
};
using AdaptiveMaxPool1d = AdaptiveMaxPoolNd<1>;
using AdaptiveMaxPool2d = AdaptiveMaxPoolNd<2>;
using AdaptiveMaxPool3d = AdaptiveMaxPoolNd<3>;

template <std::size_t spatial>
class AdaptiveAvgPoolNd final : public Pool {
 public:
  explicit AdaptiveAvgPoolNd(const PerDim& size)
      : Pool("adaptive_avg_pool", "AdaptiveAvgPool", spatial, size,
             [=](const Tensor& x) { return adaptive_avg_pool(x, size); }) {}
};
using AdaptiveAvgPool1d = AdaptiveAvgPoolNd<1>;
using AdaptiveAvgPool2d = AdaptiveAvgPoolNd<2>;
using AdaptiveAvgPool3d = AdaptiveAvgPoolNd<3>;

}  // namespace tightloop::nn
