// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/models/gpt.h>

#include <tightloop/nn/attention.h>
#include <tightloop/nn/models/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {
namespace {

constexpr double kDeviation = 0.02;

const GPTOptions& checked(const GPTOptions& o) {
  const std::pair<const char*, std::int64_t> sizes[] = {{"vocab_size", o.vocab_size},
                                                        {"block_size", o.block_size},
                                                        {"n_layer", o.n_layer},
                                                        {"n_head", o.n_head},
                                                        {"n_embd", o.n_embd}};
  for (const auto& [what, n] : sizes)
    if (n < 1) throw Error(fmt::format("gpt: {} must be 1 or greater, got {}", what, n));
  if (o.n_embd % o.n_head != 0)
    throw Error(fmt::format("gpt: n_embd {} must be a multiple of n_head {}", o.n_embd, o.n_head));
  return o;
}

/// Normal weight and zero bias; `last`: of the layer that ends a block.
Linear linear_of(std::int64_t in, std::int64_t out, const GPTOptions& o, bool last = false) {
  Linear layer(in, out, {o.bias});
  const double deviation = last ? kDeviation / std::sqrt(2 * static_cast<double>(o.n_layer)) : kDeviation;
  layer.weight = Parameter({out, in}, init::normal(0, deviation));
  if (layer.bias) layer.bias.emplace(Shape{out}, init::zeros());
  return layer;
}

Embedding embedding_of(std::int64_t rows, const GPTOptions& o) {
  Embedding table(rows, o.n_embd);
  table.weight = Parameter({rows, o.n_embd}, init::normal(0, kDeviation));
  return table;
}

}  // namespace

GPT::Attention::Attention(const GPTOptions& o)
    : heads_(o.n_head),
      dropout_p_(o.dropout),
      c_attn_(linear_of(o.n_embd, 3 * o.n_embd, o)),
      c_proj_(linear_of(o.n_embd, o.n_embd, o, true)),
      dropout_(o.dropout) {}

Tensor GPT::Attention::operator()(const Tensor& x) {
  const std::int64_t width = x.dim(2).factor;
  const Tensor qkv = c_attn_(x);
  const auto part = [&](std::int64_t i) {
    const Tensor own = slice(qkv, -1, i * width, (i + 1) * width);
    return permute(reshape(own, {x.dim(0), x.dim(1), heads_, width / heads_}), {0, 2, 1, 3});
  };
  const Tensor y =
      scaled_dot_product_attention(part(0), part(1), part(2), {.dropout_p = dropout_p_, .is_causal = true});
  return dropout_(c_proj_(reshape(permute(y, {0, 2, 1, 3}), x.shape())));
}

GPT::FeedForward::FeedForward(const GPTOptions& o)
    : c_fc_(linear_of(o.n_embd, 4 * o.n_embd, o)),
      c_proj_(linear_of(4 * o.n_embd, o.n_embd, o, true)),
      dropout_(o.dropout) {}

Tensor GPT::FeedForward::operator()(const Tensor& x) { return dropout_(c_proj_(gelu(c_fc_(x)))); }

GPT::Block::Block(const GPTOptions& o)
    : ln_1_(o.n_embd, {.bias = o.bias}), ln_2_(o.n_embd, {.bias = o.bias}), attn_(o), mlp_(o) {}

Tensor GPT::Block::operator()(const Tensor& x) {
  const ir::Scope scope(name());
  const Tensor h = x + attn_(ln_1_(x));
  return h + mlp_(ln_2_(h));
}

GPT::Transformer::Transformer(const GPTOptions& o)
    : wte(embedding_of(o.vocab_size, o)),
      wpe(embedding_of(o.block_size, o)),
      ln_f(o.n_embd, {.bias = o.bias}) {
  for (std::int64_t i = 0; i < o.n_layer; ++i) h.emplace(o);
}

GPT::GPT(const GPTOptions& options)
    : options_(checked(options)),
      transformer_(options),
      lm_head_(options.n_embd, options.vocab_size, {.bias = false}),
      dropout_(options.dropout) {
  lm_head_.weight = transformer_.wte.weight.share();
}

void GPT::fields(Fields& f) { f("transformer", transformer_)("lm_head", lm_head_); }

std::string GPT::describe() const {
  return fmt::format("GPT(vocab_size={}, block_size={}, n_layer={}, n_head={}, n_embd={})",
                     options_.vocab_size, options_.block_size, options_.n_layer, options_.n_head,
                     options_.n_embd);
}

Tensor GPT::forward(const Tensor& ids) {
  if (ids.rank() != 2 || !ids.dim(1).is_static() || ids.dim(1).factor > options_.block_size ||
      ids.dim(1).is(0))
    throw Error(fmt::format("gpt: ids must be whole numbers [B, T] with T of 1..{}, got {}",
                            options_.block_size, to_string(ids.type())));
  const Tensor positions = slice(transformer_.wpe.weight.value(), 0, 0, ids.dim(1).factor);
  Tensor x = dropout_(transformer_.wte(ids) + positions);
  for (Block& block : transformer_.h) x = block(x);
  return lm_head_(transformer_.ln_f(x));
}

namespace models {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& ids) {
  if (ids.shape.rank() != 2 || !ids.shape[1].is_static())
    throw Error(fmt::format("gpt: ids must be whole numbers [B, T], got {}", to_string(ids)));
  const auto n = [&](const char* name) { return o.at<std::int64_t>(name); };
  return std::make_unique<GPT>(
      GPTOptions{.vocab_size = n("vocab_size"),
                 .block_size = o.has("block_size") ? n("block_size") : ids.shape[1].factor,
                 .n_layer = n("n_layer"),
                 .n_head = n("n_head"),
                 .n_embd = n("n_embd"),
                 .dropout = o.at<double>("dropout"),
                 .bias = o.at<bool>("bias")});
}

}  // namespace

const LayerDef& gpt_def() {
  static const LayerDef def{"gpt",
                            "GPT-2 over token ids [B, T]: logits [B, T, vocab_size]",
                            {{"vocab_size", OptionType::integer, {}, "", true},
                             {"n_layer", OptionType::integer, std::int64_t{12}},
                             {"n_head", OptionType::integer, std::int64_t{12}},
                             {"n_embd", OptionType::integer, std::int64_t{768}},
                             {"dropout", OptionType::number, 0.0},
                             {"bias", OptionType::boolean, true},
                             {"block_size", OptionType::integer, {}, "rows of the position table; none: T"}},
                            build};
  return def;
}

}  // namespace models
}  // namespace tightloop::nn
