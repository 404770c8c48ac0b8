// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/transformer_layer.h>

#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <functional>

namespace tightloop::nn {
namespace {

std::int64_t checked_width(std::int64_t n) {
  if (n < 1) throw Error(fmt::format("transformer: dim_feedforward must be 1 or greater, got {}", n));
  return n;
}

MultiheadAttentionOptions attention_options(const TransformerOptions& o) {
  return {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first};
}

LayerNorm norm_of(std::int64_t features, const TransformerOptions& o) {
  return LayerNorm(features, {.eps = o.layer_norm_eps, .bias = o.bias});
}

/// A block with a way around it and a norm before or behind.
Tensor around(const Tensor& x, LayerNorm& norm, bool norm_first,
              const std::function<Tensor(const Tensor&)>& block) {
  return norm_first ? x + block(norm(x)) : norm(x + block(x));
}

}  // namespace

FeedForward::FeedForward(std::int64_t features, const TransformerOptions& o)
    : linear1(features, checked_width(o.dim_feedforward), {o.bias}),
      linear2(o.dim_feedforward, features, {o.bias}),
      dropout_(o.dropout),
      activation_(o.activation) {}

Tensor FeedForward::operator()(const Tensor& x) {
  const Tensor h = linear1(x);
  return linear2(dropout_(activation_ == TransformerActivation::relu ? relu(h) : gelu(h)));
}

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t features, std::int64_t heads,
                                                 TransformerOptions options)
    : self_attn(features, heads, attention_options(options)),
      options_(options),
      feed_forward_(features, options),
      norm1_(norm_of(features, options)),
      norm2_(norm_of(features, options)),
      dropout_(options.dropout) {}

void TransformerEncoderLayer::fields(Fields& f) {
  f("self_attn", self_attn)("linear1", feed_forward_.linear1)("linear2", feed_forward_.linear2);
  f("norm1", norm1_)("norm2", norm2_);
}

std::string TransformerEncoderLayer::describe() const {
  return fmt::format("TransformerEncoderLayer({}, dim_feedforward={}{})", self_attn.describe(),
                     options_.dim_feedforward, options_.norm_first ? ", norm_first=true" : "");
}

Tensor TransformerEncoderLayer::operator()(const Tensor& x, const AttentionMasks& masks) {
  const ir::Scope scope(name());
  return run(x, masks);
}

Tensor TransformerEncoderLayer::run(const Tensor& x, const AttentionMasks& masks) {
  const bool first = options_.norm_first;
  const Tensor h =
      around(x, norm1_, first, [&](const Tensor& t) { return dropout_(self_attn(t, t, t, masks)); });
  return around(h, norm2_, first, [&](const Tensor& t) { return dropout_(feed_forward_(t)); });
}

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t features, std::int64_t heads,
                                                 TransformerOptions options)
    : self_attn(features, heads, attention_options(options)),
      multihead_attn(features, heads, attention_options(options)),
      options_(options),
      feed_forward_(features, options),
      norm1_(norm_of(features, options)),
      norm2_(norm_of(features, options)),
      norm3_(norm_of(features, options)),
      dropout_(options.dropout) {}

void TransformerDecoderLayer::fields(Fields& f) {
  f("self_attn", self_attn)("multihead_attn", multihead_attn);
  f("linear1", feed_forward_.linear1)("linear2", feed_forward_.linear2);
  f("norm1", norm1_)("norm2", norm2_)("norm3", norm3_);
}

std::string TransformerDecoderLayer::describe() const {
  return fmt::format("TransformerDecoderLayer({}, dim_feedforward={}{})", self_attn.describe(),
                     options_.dim_feedforward, options_.norm_first ? ", norm_first=true" : "");
}

Tensor TransformerDecoderLayer::operator()(const Tensor& x, const Tensor& memory, const AttentionMasks& masks,
                                           const AttentionMasks& memory_masks) {
  const ir::Scope scope(name());
  const bool first = options_.norm_first;
  Tensor h = around(x, norm1_, first, [&](const Tensor& t) { return dropout_(self_attn(t, t, t, masks)); });
  h = around(h, norm2_, first,
             [&](const Tensor& t) { return dropout_(multihead_attn(t, memory, memory, memory_masks)); });
  return around(h, norm3_, first, [&](const Tensor& t) { return dropout_(feed_forward_(t)); });
}

}  // namespace tightloop::nn
