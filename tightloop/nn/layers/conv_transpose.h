// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/layer.h>
#include <tightloop/ops/functions_spatial.h>

#include <optional>

namespace tightloop::nn {

/// ConvTransposeOptions and a bias. (The padding is always of zeros.)
struct ConvTransposeLayerOptions {
  PerDim stride = 1;
  PerDim padding = 0;
  PerDim output_padding = 0;  ///< less than stride or dilation
  std::int64_t groups = 1;
  bool bias = true;
  PerDim dilation = 1;
};

/// x [B, in, ...] → [B, out, ...], sizes as conv_transpose() says. weight [in, out/groups, kernel...] and
/// bias [out] start in ±1/√(out/groups · kernel).
class ConvTranspose : public Layer {
 public:
  void fields(Fields& f) override;
  std::string describe() const override;

  Parameter weight;
  std::optional<Parameter> bias;

 protected:
  /// Throws Error when groups do not divide the channels.
  ConvTranspose(std::size_t spatial, std::int64_t in, std::int64_t out, const PerDim& kernel,
                ConvTransposeLayerOptions options);
  Tensor forward(const Tensor& x) override;

 private:
  std::size_t spatial_;
  ConvTransposeLayerOptions options_;
};

/// torch.nn.ConvTranspose1d, ConvTranspose2d, ConvTranspose3d.
template <std::size_t spatial>
class ConvTransposeNd final : public ConvTranspose {
 public:
  ConvTransposeNd(std::int64_t in, std::int64_t out, const PerDim& kernel,
                  ConvTransposeLayerOptions options = {})
      : ConvTranspose(spatial, in, out, kernel, std::move(options)) {}
};
using ConvTranspose1d = ConvTransposeNd<1>;
using ConvTranspose2d = ConvTransposeNd<2>;
using ConvTranspose3d = ConvTransposeNd<3>;

}  // namespace tightloop::nn
