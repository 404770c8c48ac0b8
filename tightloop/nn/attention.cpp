// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/attention.h>

#include <tightloop/nn/context.h>
#include <tightloop/ops/attention.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const ScaledDotProductOptions& options) {
  const double p = options.dropout_p;
  if (!(p >= 0 && p <= 1)) throw Error(fmt::format("attention: dropout_p must be 0..1, got {}", p));
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
