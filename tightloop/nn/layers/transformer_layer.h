// SPDX-License-Identifier: Apache-2.0
#pragma once
// torch.nn.TransformerEncoderLayer and TransformerDecoderLayer: names, defaults and formulas.
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/layer_norm.h>
#include <tightloop/nn/layers/multihead_attention.h>

namespace tightloop::nn {

enum class TransformerActivation : std::uint8_t { relu, gelu };

struct TransformerOptions {
  std::int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  TransformerActivation activation = TransformerActivation::relu;
  double layer_norm_eps = 1e-5;
  bool batch_first = false;  ///< [B, T, E] and not [T, B, E]; what a data set gives is
  bool norm_first = false;   ///< normalise what enters a block, not what leaves it
  bool bias = true;
  bool is_causal = false;  ///< of layer(x): a row sees itself and the rows before it
};

/// linear2(dropout(activation(linear1(x)))): a part of the layers below, which name its fields as their own.
class FeedForward {
 public:
  FeedForward(std::int64_t features, const TransformerOptions& options);
  Tensor operator()(const Tensor& x);

  Linear linear1, linear2;

 private:
  Dropout dropout_;
  TransformerActivation activation_;
};

/// Self-attention and a feed-forward block, each with dropout, a way around it and a norm.
class TransformerEncoderLayer final : public Layer {
 public:
  TransformerEncoderLayer(std::int64_t features, std::int64_t heads, TransformerOptions options = {});
  void fields(Fields& f) override;
  std::string describe() const override;

  using Layer::operator();
  /// x [B, T, E] or [T, B, E] as batch_first says.
  Tensor operator()(const Tensor& x, const AttentionMasks& masks);

  MultiheadAttention self_attn;

 protected:
  Tensor forward(const Tensor& x) override { return run(x, {.is_causal = options_.is_causal}); }

 private:
  Tensor run(const Tensor& x, const AttentionMasks& masks);

  TransformerOptions options_;
  FeedForward feed_forward_;
  LayerNorm norm1_, norm2_;
  Dropout dropout_;
};

/// Self-attention, attention to `memory`, and a feed-forward block.
class TransformerDecoderLayer final : public Module {
 public:
  TransformerDecoderLayer(std::int64_t features, std::int64_t heads, TransformerOptions options = {});
  void fields(Fields& f) override;
  std::string describe() const override;

  /// x [B, T, E] and memory [B, S, E], or [T, B, E] and [S, B, E]. `masks` are those of x among itself.
  Tensor operator()(const Tensor& x, const Tensor& memory, const AttentionMasks& masks = {},
                    const AttentionMasks& memory_masks = {});

  MultiheadAttention self_attn, multihead_attn;

 private:
  TransformerOptions options_;
  FeedForward feed_forward_;
  LayerNorm norm1_, norm2_, norm3_;
  Dropout dropout_;
};

}  // namespace tightloop::nn
