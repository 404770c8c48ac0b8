// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/sequential.h>

#include <vector>

namespace tightloop::nn {

struct AutoencoderOptions {
  std::int64_t features = 784;  ///< elements of a sample
  std::vector<std::int64_t> hidden = {128,
                                      64};  ///< of the encoder, from the outside; the decoder mirrors them
  std::int64_t latent = 16;
};

/// x [B, ...] → its reconstruction, of the same shape, through `latent` numbers a sample: linear layers with
/// ReLU between them (Hinton & Salakhutdinov, 2006), named encoder and decoder. Trained by mse against x.
class Autoencoder final : public Layer {
 public:
  /// Throws Error for a number below 1.
  explicit Autoencoder(AutoencoderOptions options = {});
  void fields(Fields& f) override { f("encoder", encoder)("decoder", decoder); }
  std::string describe() const override;
  /// [B, ...] → [B, latent]
  Tensor encode(const Tensor& x);

  Sequential encoder, decoder;

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  AutoencoderOptions options_;
};

}  // namespace tightloop::nn
