// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/linear.h>

#include <optional>

namespace tightloop::nn {

struct MultiheadAttentionOptions {
  double dropout = 0;  ///< of the weights
  bool bias = true;
  std::optional<std::int64_t> kdim = {}, vdim = {};  ///< features of key and value; none: embed_dim
  bool batch_first = false;              ///< [B, L, E] and not [L, B, E]; what a data set gives is
  bool is_causal = false;                ///< of layer(x): row i sees the rows 0..i only
  std::optional<double> rope_base = {};  ///< rotary positions of this base (see rotary()) on q and k
};

/// What a call may hide. As in PyTorch, true means hidden here (in scaled_dot_product_attention(): takes
/// part); floating masks are added to the scores.
struct AttentionMasks {
  Tensor key_padding_mask = {};  ///< [B, S]
  Tensor attn_mask = {};         ///< [L, S] or [B·heads, L, S]
  bool is_causal = false;        ///< needs no attn_mask beside it
};

/// Vaswani et al., "Attention is all you need", 2017: torch.nn.MultiheadAttention with in_proj_weight [3E, E]
/// (or q_proj_weight [E, E], k_proj_weight [E, kdim], v_proj_weight [E, vdim]), in_proj_bias [3E], out_proj.
/// The call gives what PyTorch's need_weights=False gives, and never holds the weights as a whole;
/// with_weights() gives them too.
class MultiheadAttention final : public Layer {
 public:
  /// Throws Error unless embed_dim is a multiple of num_heads, and for sizes below 1.
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, MultiheadAttentionOptions options = {});
  void fields(Fields& f) override;
  std::string describe() const override;

  using Layer::operator();  ///< of x to itself
  /// query [B, L, E], key [B, S, kdim], value [B, S, vdim] → [B, L, E]; L and S before B without batch_first;
  /// or all without B. Throws Error when shapes do not fit.
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                    const AttentionMasks& masks = {});

  struct Weighted {
    Tensor output;
    Tensor weights;  ///< [B, L, S], or [B, heads, L, S] when not averaged; no B where the query has none
  };
  /// The same and the weights, after dropout: need_weights=True.
  Weighted with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                        const AttentionMasks& masks = {}, bool average_attn_weights = true);

 protected:
  Tensor forward(const Tensor& x) override;

 private:
  bool packed() const { return in_proj_.has_value(); }
  void check(const Tensor& query, const Tensor& key, const Tensor& value) const;
  enum class Weights : std::uint8_t { none, averaged, each };
  /// attend() with the batch first.
  Weighted arranged(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMasks& masks,
                    Weights weights);
  Weighted attend(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionMasks& masks,
                  Weights weights);
  /// q, k, v [B, ·, E] before they are split into heads.
  std::vector<Tensor> projected(const Tensor& query, const Tensor& key, const Tensor& value) const;
  Tensor project(const Tensor& x, std::int64_t first, std::int64_t count) const;
  Tensor heads_of(const Tensor& x) const;
  Tensor mask_of(const AttentionMasks& masks, const Tensor& q, const Tensor& k) const;

  std::int64_t embed_, heads_;
  MultiheadAttentionOptions options_;
  std::optional<Parameter> in_proj_, q_proj_, k_proj_, v_proj_, bias_;
  Linear out_;
};

}  // namespace tightloop::nn
