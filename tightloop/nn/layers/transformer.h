// SPDX-License-Identifier: Apache-2.0
#pragma once
// torch.nn.TransformerEncoder, TransformerDecoder and Transformer: layers "layers.0", "layers.1", … and
// perhaps a last "norm". Every layer starts from weights of its own (PyTorch's start as copies of one).
#include <tightloop/nn/layers/transformer_layer.h>
#include <tightloop/nn/module_list.h>

#include <optional>

namespace tightloop::nn {

struct TransformerStack {
  std::int64_t num_layers = 6;
  bool norm = false;  ///< normalise what the last layer gives; usual with norm_first
};

class TransformerEncoder final : public Layer {
 public:
  /// Throws Error for num_layers below 1.
  TransformerEncoder(std::int64_t features, std::int64_t heads, TransformerStack stack = {},
                     TransformerOptions options = {});
  void fields(Fields& f) override;
  std::string describe() const override;

  using Layer::operator();
  Tensor operator()(const Tensor& x, const AttentionMasks& masks);

  ModuleList<TransformerEncoderLayer> layers;
  std::optional<LayerNorm> norm;

 protected:
  Tensor forward(const Tensor& x) override { return run(x, {.is_causal = is_causal_}); }

 private:
  Tensor run(Tensor x, const AttentionMasks& masks);

  bool is_causal_;
};

class TransformerDecoder final : public Module {
 public:
  /// Throws Error for num_layers below 1.
  TransformerDecoder(std::int64_t features, std::int64_t heads, TransformerStack stack = {},
                     TransformerOptions options = {});
  void fields(Fields& f) override;
  std::string describe() const override;
  /// As TransformerDecoderLayer.
  Tensor operator()(Tensor x, const Tensor& memory, const AttentionMasks& masks = {},
                    const AttentionMasks& memory_masks = {});

  ModuleList<TransformerDecoderLayer> layers;
  std::optional<LayerNorm> norm;
};

struct TransformerShape {
  std::int64_t num_encoder_layers = 6, num_decoder_layers = 6;
};

/// What a call of a Transformer may hide: in src, in tgt, and in what the encoder makes of src.
struct TransformerMasks {
  AttentionMasks src = {}, tgt = {}, memory = {};
};

/// torch.nn.Transformer: "encoder" and "decoder", each with a last norm; matrices start from xavier_uniform.
/// options.is_causal lets tgt see earlier rows only, in every call.
class Transformer final : public Module {
 public:
  /// Throws Error as its layers do.
  explicit Transformer(std::int64_t d_model = 512, std::int64_t nhead = 8, TransformerShape shape = {},
                       const TransformerOptions& options = {});
  void fields(Fields& f) override;
  std::string describe() const override;
  /// src [B, S, E] and tgt [B, T, E], or [S, B, E] and [T, B, E], as batch_first says; gives tgt's shape.
  Tensor operator()(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks = {});

  TransformerEncoder encoder;
  TransformerDecoder decoder;

 private:
  bool is_causal_;
};

}  // namespace tightloop::nn
