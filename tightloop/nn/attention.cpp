// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/attention.h>

#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/ops/attention.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace tightloop::nn {
namespace {

double checked_dropout(double p) {
  if (!(p >= 0 && p <= 1)) throw Error(fmt::format("attention: dropout_p must be 0..1, got {}", p));
  return p;
}

/// x [..., heads, S, E] with each head as often as q has heads for it.
Tensor shared_heads(const Tensor& x, const Tensor& q) {
  if (x.rank() < 3 || q.rank() < 3)
    throw Error(fmt::format("attention: enable_gqa needs [..., heads, rows, features], got {} and {}",
                            to_string(q.type()), to_string(x.type())));
  const std::size_t axis = x.rank() - 3;
  const Dim heads = x.dim(axis), wanted = q.dim(q.rank() - 3);
  if (heads == wanted) return x;
  if (!heads.is_static() || !wanted.is_static() || heads.factor < 1 || wanted.factor % heads.factor != 0)
    throw Error(fmt::format("attention: the heads of q must be a multiple of those of k and v, got {} and {}",
                            to_string(q.type()), to_string(x.type())));
  std::vector<Dim> dims = x.shape().dims();
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, Dim(wanted.factor / heads.factor));
  const Tensor each = broadcast_to(unsqueeze(x, static_cast<std::int64_t>(axis) + 1), Shape(std::move(dims)));
  return flatten(each, static_cast<std::int64_t>(axis), static_cast<std::int64_t>(axis) + 1);
}

}  // namespace

Tensor attention_weights(const Tensor& q, const Tensor& k, const ScaledDotProductOptions& options) {
  const double p = checked_dropout(options.dropout_p);
  const double scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.dim(q.rank() - 1).factor)));
  const Tensor columns = options.enable_gqa ? shared_heads(k, q) : k;
  Tensor s = matmul(q, transpose(columns, -2, -1)) * scale;
  const Tensor hidden = scalar(-std::numeric_limits<double>::infinity(), s.dtype());
  if (const Tensor& mask = options.attn_mask; mask.defined())
    s = mask.dtype() == DType::boolean ? select(mask, s, hidden) : s + mask;
  if (options.is_causal) {
    const auto last = static_cast<std::int64_t>(s.rank()) - 1;
    s = select(iota(s.shape(), last - 1) >= iota(s.shape(), last), s, hidden);
  }
  const Tensor blind = amax(s, {-1}, true) == -std::numeric_limits<double>::infinity();
  const Tensor zero = scalar(0, s.dtype());
  const Tensor weights = select(blind, zero, softmax(select(blind, zero, s), -1));
  return dropped("attention", weights, p, weights.shape());
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const ScaledDotProductOptions& options) {
  const double p = checked_dropout(options.dropout_p);
  if (options.enable_gqa) {
    ScaledDotProductOptions own = options;
    own.enable_gqa = false;
    return scaled_dot_product_attention(q, shared_heads(k, q), shared_heads(v, q), own);
  }
  AttentionOptions own{.mask = options.attn_mask, .causal = options.is_causal, .scale = options.scale};
  if (!Context::training() || p == 0) return attention(q, k, v, own);
  Context& context = *Context::current();
  own.stream = context.next_stream();
  if (p == 1) {
    const Tensor y = attention(q, k, v, own);
    return zeros(y.shape(), y.dtype());
  }
  own.dropout = p;
  own.seed = context.seed("attention");
  own.step = context.step("attention");
  return attention(q, k, v, own);
}

}  // namespace tightloop::nn
