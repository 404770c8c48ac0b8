// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/embedding.h>
#include <tightloop/nn/layers/layer_norm.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/module_list.h>

namespace tightloop::nn {

struct GPTOptions {
  std::int64_t vocab_size = 50257;
  std::int64_t block_size = 1024;  ///< the most steps of a sequence
  std::int64_t n_layer = 12;
  std::int64_t n_head = 12;
  std::int64_t n_embd = 768;
  double dropout = 0;
  bool bias = true;  ///< of linear layers and norms
};

/// GPT-2 (Radford et al., 2019) with nanoGPT's names, shapes and first weights: token and position
/// embeddings, blocks of causal attention and a feed-forward part with the norm first, and an output layer
/// that shares the weight of the token embedding. Weights start in N(0, 0.02²), those that end a block in
/// N(0, 0.02² / 2·n_layer).
class GPT final : public Layer {
 public:
  /// Throws Error for sizes below 1 and an n_embd that is no multiple of n_head.
  explicit GPT(const GPTOptions& options);
  void fields(Fields& f) override;
  std::string describe() const override;
  const GPTOptions& options() const { return options_; }

 protected:
  /// ids [B, T], T ≤ block_size → logits [B, T, vocab_size] of the next token.
  Tensor forward(const Tensor& ids) override;

 private:
  class Attention : public Module {
   public:
    explicit Attention(const GPTOptions& o);
    void fields(Fields& f) override { f("c_attn", c_attn_)("c_proj", c_proj_); }
    Tensor operator()(const Tensor& x);

   private:
    std::int64_t heads_;
    double dropout_p_;
    Linear c_attn_, c_proj_;
    Dropout dropout_;
  };

  class FeedForward : public Module {
   public:
    explicit FeedForward(const GPTOptions& o);
    void fields(Fields& f) override { f("c_fc", c_fc_)("c_proj", c_proj_); }
    Tensor operator()(const Tensor& x);

   private:
    Linear c_fc_, c_proj_;
    Dropout dropout_;
  };

  class Block : public Module {
   public:
    explicit Block(const GPTOptions& o);
    void fields(Fields& f) override { f("ln_1", ln_1_)("attn", attn_)("ln_2", ln_2_)("mlp", mlp_); }
    Tensor operator()(const Tensor& x);

   private:
    LayerNorm ln_1_, ln_2_;
    Attention attn_;
    FeedForward mlp_;
  };

  struct Transformer : Module {
    explicit Transformer(const GPTOptions& o);
    void fields(Fields& f) override { f("wte", wte)("wpe", wpe)("h", h)("ln_f", ln_f); }
    Embedding wte, wpe;
    ModuleList<Block> h;
    LayerNorm ln_f;
  };

  GPTOptions options_;
  Transformer transformer_;
  Linear lm_head_;
  Dropout dropout_;
};

}  // namespace tightloop::nn
