// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/transformer.h>

#include <tightloop/nn/layers/index.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

/// Makes the layers and the norm of a stack.
template <class L>
void fill(ModuleList<L>& layers, std::optional<LayerNorm>& norm, std::int64_t features, std::int64_t heads,
          const TransformerStack& stack, const TransformerOptions& options) {
  if (stack.num_layers < 1)
    throw Error(fmt::format("transformer: num_layers must be 1 or greater, got {}", stack.num_layers));
  for (std::int64_t i = 0; i < stack.num_layers; ++i) layers.emplace(features, heads, options);
  if (stack.norm)
    norm.emplace(features, LayerNormOptions{.eps = options.layer_norm_eps, .bias = options.bias});
}

}  // namespace

TransformerEncoder::TransformerEncoder(std::int64_t features, std::int64_t heads, TransformerStack stack,
                                       TransformerOptions options)
    : is_causal_(options.is_causal) {
  fill(layers, norm, features, heads, stack, options);
}

void TransformerEncoder::fields(Fields& f) {
  f("layers", layers);
  if (norm) f("norm", *norm);
}

std::string TransformerEncoder::describe() const {
  return fmt::format("TransformerEncoder({} layers)", layers.size());
}

Tensor TransformerEncoder::operator()(const Tensor& x, const AttentionMasks& masks) {
  const ir::Scope scope(name());
  return run(x, masks);
}

Tensor TransformerEncoder::run(Tensor x, const AttentionMasks& masks) {
  for (TransformerEncoderLayer& layer : layers) x = layer(x, masks);
  return norm ? (*norm)(x) : x;
}

TransformerDecoder::TransformerDecoder(std::int64_t features, std::int64_t heads, TransformerStack stack,
                                       TransformerOptions options) {
  fill(layers, norm, features, heads, stack, options);
}

void TransformerDecoder::fields(Fields& f) {
  f("layers", layers);
  if (norm) f("norm", *norm);
}

std::string TransformerDecoder::describe() const {
  return fmt::format("TransformerDecoder({} layers)", layers.size());
}

Tensor TransformerDecoder::operator()(Tensor x, const Tensor& memory, const AttentionMasks& masks,
                                      const AttentionMasks& memory_masks) {
  const ir::Scope scope(name());
  for (TransformerDecoderLayer& layer : layers) x = layer(x, memory, masks, memory_masks);
  return norm ? (*norm)(x) : x;
}

Transformer::Transformer(std::int64_t d_model, std::int64_t nhead, TransformerShape shape,
                         const TransformerOptions& options)
    : encoder(d_model, nhead, {shape.num_encoder_layers, true}, options),
      decoder(d_model, nhead, {shape.num_decoder_layers, true}, options),
      is_causal_(options.is_causal) {
  for (const NamedParameter& p : parameters())
    if (const Shape& dims = p.parameter->type().shape; dims.rank() > 1)
      *p.parameter = Parameter(dims, init::xavier_uniform());
}

void Transformer::fields(Fields& f) { f("encoder", encoder)("decoder", decoder); }

std::string Transformer::describe() const {
  return fmt::format("Transformer({}, {})", encoder.describe(), decoder.describe());
}

Tensor Transformer::operator()(const Tensor& src, const Tensor& tgt, const TransformerMasks& masks) {
  const ir::Scope scope(name());
  AttentionMasks own = masks.tgt;
  own.is_causal = own.is_causal || is_causal_;
  return decoder(tgt, encoder(src, masks.src), own, masks.memory);
}

namespace layers {
namespace {

TransformerActivation activation(const std::string& name) {
  if (name == "relu") return TransformerActivation::relu;
  if (name == "gelu") return TransformerActivation::gelu;
  throw Error("transformer: activation must be 'relu' or 'gelu', not '" + name + "'");
}

std::vector<OptionSpec> specs(bool stack) {
  std::vector<OptionSpec> out{{"nhead", OptionType::integer, {}, "heads; they divide the features", true}};
  if (stack) out.push_back({"num_layers", OptionType::integer, {}, "", true});
  out.insert(out.end(), {{"dim_feedforward", OptionType::integer, std::int64_t{2048}},
                         {"dropout", OptionType::number, 0.1},
                         {"activation", OptionType::text, "relu", "relu or gelu"},
                         {"layer_norm_eps", OptionType::number, 1e-5},
                         {"norm_first", OptionType::boolean, false},
                         {"bias", OptionType::boolean, true},
                         {"is_causal", OptionType::boolean, false, "see earlier steps only"}});
  if (stack) out.push_back({"norm", OptionType::boolean, false, "a norm after the last layer"});
  return out;
}

TransformerOptions options_of(const Options& o) {
  return {.dim_feedforward = o.at<std::int64_t>("dim_feedforward"),
          .dropout = o.at<double>("dropout"),
          .activation = activation(o.at<std::string>("activation")),
          .layer_norm_eps = o.at<double>("layer_norm_eps"),
          .batch_first = true,
          .norm_first = o.at<bool>("norm_first"),
          .bias = o.at<bool>("bias"),
          .is_causal = o.at<bool>("is_causal")};
}

std::int64_t features_of(const char* layer, const TensorType& x) {
  if (x.shape.rank() != 3 || !x.shape[1].is_static() || !x.shape[2].is_static())
    throw Error(fmt::format("{}: x must be [B, T, features], got {}", layer, to_string(x)));
  return x.shape[2].factor;
}

std::unique_ptr<Layer> one(const Options& o, const TensorType& x) {
  return std::make_unique<TransformerEncoderLayer>(features_of("transformer_encoder_layer", x),
                                                   o.at<std::int64_t>("nhead"), options_of(o));
}

std::unique_ptr<Layer> several(const Options& o, const TensorType& x) {
  return std::make_unique<TransformerEncoder>(
      features_of("transformer_encoder", x), o.at<std::int64_t>("nhead"),
      TransformerStack{o.at<std::int64_t>("num_layers"), o.at<bool>("norm")}, options_of(o));
}

}  // namespace

const LayerDef& transformer_encoder_layer_def() {
  static const LayerDef def{"transformer_encoder_layer",
                            "self-attention and a feed-forward block over [B, T, features]", specs(false),
                            one};
  return def;
}

const LayerDef& transformer_encoder_def() {
  static const LayerDef def{"transformer_encoder", "num_layers of transformer_encoder_layer", specs(true),
                            several};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
