// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/multihead_attention.h>

#include <tightloop/nn/attention.h>
#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/positions.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <limits>

namespace tightloop::nn {
namespace {

std::int64_t positive(const char* what, std::int64_t n) {
  if (n < 1) throw Error(fmt::format("multihead_attention: {} must be 1 or greater, got {}", what, n));
  return n;
}

Tensor swapped(const Tensor& x) { return permute(x, {1, 0, 2}); }

/// A mask of what is hidden as one to add.
Tensor added(const Tensor& mask, DType dtype) {
  if (mask.dtype() != DType::boolean) return cast(mask, dtype);
  const double hidden = -std::numeric_limits<double>::infinity();
  return select(mask, scalar(hidden, dtype), scalar(0, dtype));
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       MultiheadAttentionOptions options)
    : embed_(positive("embed_dim", embed_dim)),
      heads_(positive("num_heads", num_heads)),
      options_(options),
      out_(embed_dim, embed_dim, {options.bias}) {
  if (embed_dim % num_heads != 0)
    throw Error(fmt::format("multihead_attention: embed_dim {} must be a multiple of num_heads {}", embed_dim,
                            num_heads));
  const std::int64_t kdim = positive("kdim", options.kdim.value_or(embed_dim));
  const std::int64_t vdim = positive("vdim", options.vdim.value_or(embed_dim));
  const auto draw = init::xavier_uniform();
  if (kdim == embed_dim && vdim == embed_dim) {
    in_proj_.emplace(Shape{3 * embed_dim, embed_dim}, draw);
  } else {
    q_proj_.emplace(Shape{embed_dim, embed_dim}, draw);
    k_proj_.emplace(Shape{embed_dim, kdim}, draw);
    v_proj_.emplace(Shape{embed_dim, vdim}, draw);
  }
  if (!options.bias) return;
  bias_.emplace(Shape{3 * embed_dim}, init::zeros());
  out_.bias.emplace(Shape{embed_dim}, init::zeros());
}

void MultiheadAttention::fields(Fields& f) {
  if (packed())
    f("in_proj_weight", *in_proj_);
  else
    f("q_proj_weight", *q_proj_)("k_proj_weight", *k_proj_)("v_proj_weight", *v_proj_);
  if (bias_) f("in_proj_bias", *bias_);
  f("out_proj", out_);
}

std::string MultiheadAttention::describe() const {
  return fmt::format("MultiheadAttention({}, {}{}{})", embed_, heads_, options_.bias ? "" : ", bias=false",
                     options_.is_causal ? ", is_causal=true" : "");
}

void MultiheadAttention::check(const Tensor& query, const Tensor& key, const Tensor& value) const {
  const auto fits = [&](const char* what, const Tensor& x, std::int64_t features) {
    const bool rank = (x.rank() == 2 || x.rank() == 3) && x.rank() == query.rank();
    if (!rank || !is_compute_float(x.dtype()) || !x.dim(x.rank() - 1).is(features))
      throw Error(
          fmt::format("multihead_attention: {0} must be f32 or f64 [{1}, {2}] or [rows, {2}], got {3}", what,
                      options_.batch_first ? "B, rows" : "rows, B", features, to_string(x.type())));
    const Dim rows = x.dim(x.rank() == 3 && options_.batch_first ? 1 : 0);
    if (!rows.is_static())
      throw Error(fmt::format("multihead_attention: the rows of the {} must be known, got {}{}", what,
                              to_string(x.type()),
                              options_.batch_first ? "" : "; with the batch first say batch_first"));
  };
  fits("query", query, embed_);
  fits("key", key, options_.kdim.value_or(embed_));
  fits("value", value, options_.vdim.value_or(embed_));
}

Tensor MultiheadAttention::project(const Tensor& x, std::int64_t first, std::int64_t count) const {
  const std::int64_t start = first * embed_, stop = (first + count) * embed_;
  const auto& own = first == 0 ? q_proj_ : first == 1 ? k_proj_ : v_proj_;
  const Tensor y = matmul_transposed(x, packed() ? slice(in_proj_->value(), 0, start, stop) : own->value());
  return bias_ ? y + slice(bias_->value(), 0, start, stop) : y;
}

std::vector<Tensor> MultiheadAttention::projected(const Tensor& query, const Tensor& key,
                                                  const Tensor& value) const {
  std::vector<Tensor> out;
  const auto apart = [&](const Tensor& joined, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) out.push_back(slice(joined, -1, i * embed_, (i + 1) * embed_));
  };
  const bool one = packed() && key.id() == value.id();
  if (one && query.id() == key.id()) {
    apart(project(query, 0, 3), 3);
    return out;
  }
  out.push_back(project(query, 0, 1));
  if (one) {
    apart(project(key, 1, 2), 2);
    return out;
  }
  out.push_back(project(key, 1, 1));
  out.push_back(project(value, 2, 1));
  return out;
}

/// [B, L, E] → [B, heads, L, E / heads]
Tensor MultiheadAttention::heads_of(const Tensor& x) const {
  return permute(reshape(x, {x.dim(0), x.dim(1), heads_, embed_ / heads_}), {0, 2, 1, 3});
}

/// What takes part, or is added, [B or 1, heads or 1, L or 1, S]; empty: everything.
Tensor MultiheadAttention::mask_of(const AttentionMasks& masks, const Tensor& q, const Tensor& k) const {
  const Dim batch = q.dim(0), rows = q.dim(1), columns = k.dim(1);
  Tensor own = masks.attn_mask, padding = masks.key_padding_mask;
  if (own.defined()) {
    const Shape each{rows, columns}, all{Shape{batch, heads_}.count(), rows, columns};
    if (own.shape() != each && own.shape() != all)
      throw Error(fmt::format("multihead_attention: attn_mask must be {} or {}, got {}", to_string(each),
                              to_string(all), to_string(own.type())));
    own =
        own.rank() == 2 ? reshape(own, {1, 1, rows, columns}) : reshape(own, {batch, heads_, rows, columns});
  }
  if (padding.defined()) {
    if (padding.shape() != Shape{batch, columns})
      throw Error(fmt::format("multihead_attention: key_padding_mask must be {}, got {}",
                              to_string(Shape{batch, columns}), to_string(padding.type())));
    padding = reshape(padding, {batch, 1, 1, columns});
  }
  const auto of_one = [&](const Tensor& m) { return m.dtype() == DType::boolean ? logical_not(m) : m; };
  if (!own.defined()) return padding.defined() ? of_one(padding) : padding;
  if (!padding.defined()) return of_one(own);
  if (own.dtype() == DType::boolean && padding.dtype() == DType::boolean)
    return logical_not(logical_or(own, padding));
  return added(own, q.dtype()) + added(padding, q.dtype());
}

MultiheadAttention::Weighted MultiheadAttention::attend(const Tensor& query, const Tensor& key,
                                                        const Tensor& value, const AttentionMasks& masks,
                                                        Weights weights) {
  const auto parts = projected(query, key, value);
  Tensor q = heads_of(parts[0]), k = heads_of(parts[1]);
  const Tensor v = heads_of(parts[2]);
  if (options_.rope_base) {
    q = rotary(q, {.base = *options_.rope_base});
    k = rotary(k, {.base = *options_.rope_base});
  }
  const ScaledDotProductOptions options{
      .attn_mask = mask_of(masks, query, key), .dropout_p = options_.dropout, .is_causal = masks.is_causal};
  const auto joined = [&](const Tensor& y) {
    return out_(reshape(permute(y, {0, 2, 1, 3}), {query.dim(0), query.dim(1), embed_}));
  };
  if (weights == Weights::none) return {joined(scaled_dot_product_attention(q, k, v, options)), {}};
  const Tensor each = attention_weights(q, k, options);
  return {joined(matmul(each, v)), weights == Weights::averaged ? mean(each, {1}) : each};
}

Tensor MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                      const AttentionMasks& masks) {
  const ir::Scope scope(name());
  return arranged(query, key, value, masks, Weights::none).output;
}

MultiheadAttention::Weighted MultiheadAttention::with_weights(const Tensor& query, const Tensor& key,
                                                              const Tensor& value,
                                                              const AttentionMasks& masks,
                                                              bool average_attn_weights) {
  const ir::Scope scope(name());
  return arranged(query, key, value, masks, average_attn_weights ? Weights::averaged : Weights::each);
}

MultiheadAttention::Weighted MultiheadAttention::arranged(const Tensor& query, const Tensor& key,
                                                          const Tensor& value, const AttentionMasks& masks,
                                                          Weights weights) {
  check(query, key, value);
  const bool one = query.rank() == 2;
  if (!one && options_.batch_first) return attend(query, key, value, masks, weights);
  const auto turned = [&](const Tensor& x) { return one ? unsqueeze(x, 0) : swapped(x); };
  AttentionMasks own = masks;
  if (one && own.key_padding_mask.defined() && own.key_padding_mask.rank() == 1)
    own.key_padding_mask = unsqueeze(own.key_padding_mask, 0);
  // What is one tensor stays one, so that it is projected at once.
  const Tensor q = turned(query);
  const Tensor k = key.id() == query.id() ? q : turned(key);
  const Tensor v = value.id() == key.id() ? k : turned(value);
  Weighted y = attend(q, k, v, own, weights);
  y.output = one ? squeeze(y.output, 0) : swapped(y.output);
  if (one && y.weights.defined()) y.weights = squeeze(y.weights, 0);
  return y;
}

Tensor MultiheadAttention::forward(const Tensor& x) {
  return arranged(x, x, x, {.is_causal = options_.is_causal}, Weights::none).output;
}

namespace layers {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  if (x.shape.rank() != 3 || !x.shape[1].is_static() || !x.shape[2].is_static())
    throw Error(fmt::format("multihead_attention: x must be [B, T, features], got {}", to_string(x)));
  MultiheadAttentionOptions options{.dropout = o.at<double>("dropout"),
                                    .bias = o.at<bool>("bias"),
                                    .batch_first = true,
                                    .is_causal = o.at<bool>("is_causal")};
  if (o.has("rope_base")) options.rope_base = o.at<double>("rope_base");
  return std::make_unique<MultiheadAttention>(x.shape[2].factor, o.at<std::int64_t>("num_heads"), options);
}

}  // namespace

const LayerDef& multihead_attention_def() {
  static const LayerDef def{
      "multihead_attention",
      "every step of [B, T, features] attends to all, or those before it",
      {{"num_heads", OptionType::integer, {}, "heads; they divide the features", true},
       {"dropout", OptionType::number, 0.0},
       {"bias", OptionType::boolean, true},
       {"is_causal", OptionType::boolean, false, "see earlier steps only"},
       {"rope_base", OptionType::number, {}, "rotary positions of this base, such as 10000"}},
      build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
