// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/layer_norm.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/layers/multihead_attention.h>
#include <tightloop/nn/module_list.h>

namespace tightloop::nn {

struct ViTOptions {
  std::int64_t patch_size = 16;
  std::int64_t num_layers = 12;
  std::int64_t num_heads = 12;
  std::int64_t hidden_dim = 768;
  std::int64_t mlp_dim = 3072;
  std::int64_t num_classes = 1000;
  double dropout = 0;
  double attention_dropout = 0;
};

/// Dosovitskiy et al., "An image is worth 16x16 words", 2021, with torchvision's names and shapes (vit_b_16
/// by default): patches through conv_proj, a class token, learned positions, an encoder with the norm first,
/// and a linear head on the class token, which starts at 0.
class ViT final : public Layer {
 public:
  struct Image {
    std::int64_t channels, height, width;
  };
  /// Throws Error for sizes below 1 and an image that is not made of whole patches.
  ViT(Image image, ViTOptions options = {});
  void fields(Fields& f) override;
  std::string describe() const override;

 protected:
  /// images [B, channels, height, width] → scores [B, num_classes].
  Tensor forward(const Tensor& images) override;

 private:
  /// The weight of a convolution whose windows do not overlap.
  struct Patches : Module {
    Patches(const Image& image, const ViTOptions& o);
    void fields(Fields& f) override { f("weight", weight)("bias", bias); }
    Tensor operator()(const Tensor& images);
    std::int64_t size;
    Parameter weight, bias;
  };
  struct Mlp : Module {
    explicit Mlp(const ViTOptions& o);
    void fields(Fields& f) override { f("0", first)("3", second); }
    Tensor operator()(const Tensor& x);
    Linear first, second;
    Dropout dropout;
  };
  struct Block : Module {
    explicit Block(const ViTOptions& o);
    void fields(Fields& f) override;
    Tensor operator()(const Tensor& x);
    LayerNorm ln_1, ln_2;
    MultiheadAttention self_attention;
    Dropout dropout;
    Mlp mlp;
  };
  struct Blocks : Module {
    void fields(Fields& f) override;
    std::vector<std::unique_ptr<Block>> all;
  };
  struct Encoder : Module {
    Encoder(std::int64_t tokens, const ViTOptions& o);
    void fields(Fields& f) override { f("pos_embedding", pos_embedding)("layers", layers)("ln", ln); }
    Tensor operator()(const Tensor& x);
    Parameter pos_embedding;
    Dropout dropout;
    Blocks layers;
    LayerNorm ln;
  };
  struct Heads : Module {
    explicit Heads(const ViTOptions& o);
    void fields(Fields& f) override { f("head", head); }
    Linear head;
  };

  Image image_;
  ViTOptions options_;
  Parameter class_token_;
  Patches conv_proj_;
  Encoder encoder_;
  Heads heads_;
};

}  // namespace tightloop::nn
