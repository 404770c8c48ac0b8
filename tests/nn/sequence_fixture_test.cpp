// SPDX-License-Identifier: Apache-2.0
// Recurrent layers and cells with states, attention with masks, and decoders against PyTorch: every output
// and every gradient. The layers of a forward text are in layers_fixture_test.cpp.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tightloop/nn/attention.h>
#include <tightloop/nn/layers/gru.h>
#include <tightloop/nn/layers/lstm.h>
#include <tightloop/nn/layers/multihead_attention.h>
#include <tightloop/nn/layers/recurrent_cell.h>
#include <tightloop/nn/layers/rnn.h>
#include <tightloop/nn/layers/transformer.h>
#include <tightloop/passes/differentiate.h>

#include <map>
#include <memory>
#include <set>

namespace tightloop::nn {
namespace {

using testing::Case;
using Tensors = std::vector<Tensor>;
using Named = std::map<std::string, Tensor>;

/// A module and what it makes of a case's tensors.
struct Subject {
  std::shared_ptr<Module> module = std::make_shared<Module>();
  std::function<Tensors(const Tensors& in, const Named& others)> call;
};

std::int64_t integer(const Case& c, const char* name, std::int64_t fallback = 0) {
  return c.options.has(name) ? c.options.at<std::int64_t>(name) : fallback;
}
bool flag(const Case& c, const char* name, bool fallback = false) {
  return c.options.has(name) ? c.options.at<bool>(name) : fallback;
}
double number(const Case& c, const char* name, double fallback) {
  return c.options.has(name) ? c.options.at<double>(name) : fallback;
}

/// [B, D·layers, H], as the fixtures have it, and back.
Tensor state_first(const Tensor& h) { return permute(h, {1, 0, 2}); }

template <class L>
Subject recurrent(const Case& c) {
  auto layer = std::make_shared<L>(3, 5,
                                   RecurrentOptions{.num_layers = integer(c, "num_layers", 1),
                                                    .bias = flag(c, "bias", true),
                                                    .batch_first = flag(c, "batch_first"),
                                                    .bidirectional = flag(c, "bidirectional"),
                                                    .proj_size = integer(c, "proj_size")});
  return {layer, [layer](const Tensors& in, const Named&) -> Tensors {
            if constexpr (std::is_same_v<L, LSTM>) {
              const auto [y, state] = (*layer)(in[0], {state_first(in[1]), state_first(in[2])});
              return {y, state_first(state.h), state_first(state.c)};
            } else {
              const auto [y, h] = (*layer)(in[0], state_first(in[1]));
              return {y, state_first(h)};
            }
          }};
}

template <class L>
Subject cell(const Case& c) {
  auto layer = std::make_shared<L>(3, 5, CellOptions{.bias = flag(c, "bias", true)});
  return {layer, [layer](const Tensors& in, const Named&) -> Tensors {
            if constexpr (std::is_same_v<L, LSTMCell>) {
              const auto [h, state] = (*layer)(in[0], {in[1], in[2]});
              return {h, state};
            } else {
              return {(*layer)(in[0], in[1])};
            }
          }};
}

Tensor other(const Named& others, const char* name) {
  const auto at = others.find(name);
  return at == others.end() ? Tensor() : at->second;
}

Subject attention(const Case& c) {
  ScaledDotProductOptions options{.is_causal = flag(c, "causal")};
  if (c.options.has("scale")) options.scale = number(c, "scale", 1);
  return {std::make_shared<Module>(), [options](const Tensors& in, const Named& others) -> Tensors {
            ScaledDotProductOptions own = options;
            own.attn_mask = other(others, "mask");
            return {scaled_dot_product_attention(in[0], in[1], in[2], own)};
          }};
}

Subject multihead(const Case& c) {
  MultiheadAttentionOptions options{.batch_first = flag(c, "batch_first")};
  if (c.options.has("kdim")) options.kdim = integer(c, "kdim");
  if (c.options.has("vdim")) options.vdim = integer(c, "vdim");
  auto layer = std::make_shared<MultiheadAttention>(6, 2, options);
  return {layer, [layer](const Tensors& in, const Named& others) -> Tensors {
            return {(*layer)(in[0], in[1], in[2],
                             {other(others, "key_padding_mask"), other(others, "attn_mask")})};
          }};
}

TransformerOptions transformer_options(const Case& c) {
  return {
      .dim_feedforward = 7,
      .dropout = 0,
      .activation = c.options.has("activation") ? TransformerActivation::gelu : TransformerActivation::relu,
      .layer_norm_eps = number(c, "layer_norm_eps", 1e-5),
      .batch_first = flag(c, "batch_first"),
      .norm_first = flag(c, "norm_first"),
      .bias = flag(c, "bias", true)};
}

template <class L>
Subject decoder(const Case& c) {
  const TransformerOptions options = transformer_options(c);
  std::shared_ptr<L> layer;
  if constexpr (std::is_same_v<L, TransformerDecoder>)
    layer = std::make_shared<L>(4, 2, TransformerStack{integer(c, "num_layers")}, options);
  else
    layer = std::make_shared<L>(4, 2, options);
  return {
      layer, [layer, causal = flag(c, "causal")](const Tensors& in, const Named& others) -> Tensors {
        return {(*layer)(in[0], in[1], {.is_causal = causal}, {other(others, "memory_key_padding_mask")})};
      }};
}

Subject grouped(const Case& c) {
  return {
      std::make_shared<Module>(), [causal = flag(c, "causal")](const Tensors& in, const Named&) -> Tensors {
        return {scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = causal, .enable_gqa = true})};
      }};
}

Subject weighted(const Case& c) {
  auto layer = std::make_shared<MultiheadAttention>(
      6, 2, MultiheadAttentionOptions{.batch_first = flag(c, "batch_first")});
  return {layer, [layer, average = flag(c, "average")](const Tensors& in, const Named& others) -> Tensors {
            const auto y =
                layer->with_weights(in[0], in[1], in[2], {other(others, "key_padding_mask")}, average);
            return {y.output, y.weights};
          }};
}

Subject transformer(const Case& c) {
  const auto layer = std::make_shared<Transformer>(4, 2, TransformerShape{2, 1}, transformer_options(c));
  return {layer, [layer, causal = flag(c, "causal")](const Tensors& in, const Named& others) -> Tensors {
            TransformerMasks masks;
            masks.src.key_padding_mask = other(others, "src_key_padding_mask");
            masks.memory.key_padding_mask = other(others, "memory_key_padding_mask");
            masks.tgt = {other(others, "tgt_key_padding_mask"), {}, causal};
            return {(*layer)(in[0], in[1], masks)};
          }};
}

Subject subject_of(const Case& c) {
  if (c.name == "rnn") return recurrent<RNN>(c);
  if (c.name == "lstm") return recurrent<LSTM>(c);
  if (c.name == "gru") return recurrent<GRU>(c);
  if (c.name == "rnn_cell") return cell<RNNCell>(c);
  if (c.name == "lstm_cell") return cell<LSTMCell>(c);
  if (c.name == "gru_cell") return cell<GRUCell>(c);
  if (c.name == "attention") return attention(c);
  if (c.name == "multihead_attention") return multihead(c);
  if (c.name == "grouped_attention") return grouped(c);
  if (c.name == "multihead_weights") return weighted(c);
  if (c.name == "transformer") return transformer(c);
  if (c.name == "transformer_decoder") return decoder<TransformerDecoder>(c);
  EXPECT_EQ(c.name, "transformer_decoder_layer");
  return decoder<TransformerDecoderLayer>(c);
}

constexpr const char* kOthers[] = {"mask",
                                   "attn_mask",
                                   "key_padding_mask",
                                   "memory_key_padding_mask",
                                   "src_key_padding_mask",
                                   "tgt_key_padding_mask"};

/// Tensors "<stem>0", "<stem>1", ...
std::vector<Array> numbered(const Case& c, const std::string& stem) {
  std::vector<Array> out;
  while (const Array* a = c.find(stem + std::to_string(out.size()))) out.push_back(*a);
  return out;
}

class SequenceFixtures : public ::testing::TestWithParam<CompileOptions> {};

void check(const Case& c, const CompileOptions& options) {
  const Subject subject = subject_of(c);
  const auto parameters = subject.module->parameters();
  for (const auto& p : parameters) p.parameter->assign(c.at("value." + p.path));
  // The batch is symbolic where it leads everywhere; masks that lack it are stretched.
  const bool batched =
      flag(c, "batch_first", true) && c.name != "attention" && c.find("attn_mask") == nullptr;
  const auto inputs = numbered(c, "in"), ups = numbered(c, "upstream"), ys = numbered(c, "y");
  std::vector<testing::Feed> feeds;
  for (const Array& a : inputs) feeds.push_back({a, batched});
  std::vector<std::string> names;
  for (const char* name : kOthers)
    if (const Array* a = c.find(name)) names.emplace_back(name), feeds.push_back({*a, batched});
  for (const Array& a : ups) feeds.push_back({a, batched});
  const auto out = testing::evaluate(options, feeds, [&](const Tensors& all) {
    const Tensors in(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
    Named others;
    for (std::size_t i = 0; i < names.size(); ++i) others[names[i]] = all[in.size() + i];
    Tensors result = subject.call(in, others);
    Tensor loss = scalar(0);
    for (std::size_t i = 0; i < result.size(); ++i)
      loss = loss + sum(result[i] * all[in.size() + names.size() + i]);
    Tensors wrt = in;
    for (const auto& [name, t] : others)
      if (is_floating(t.dtype())) wrt.push_back(t);
    for (const auto& p : parameters) wrt.push_back(p.parameter->value());
    for (const Tensor& g : gradients(loss, wrt)) result.push_back(g);
    return result;
  });
  // Layers of layers, and norms over four features.
  const double loose = c.name == "transformer" ? 40 : c.name.starts_with("transformer") ? 10 : 1;
  const auto close = [&](const Array& got, const Array& wanted) {
    testing::expect_close(got, wanted, loose * 1e-5, loose * 4e-6);
  };
  std::size_t next = 0;
  for (const Array& y : ys) close(out.at(next++), y);
  for (std::size_t i = 0; i < inputs.size(); ++i) close(out.at(next++), c.at("gradient" + std::to_string(i)));
  std::set<std::string> sorted(names.begin(), names.end());
  for (const std::string& name : sorted)
    if (is_floating(c.at(name).dtype())) close(out.at(next++), c.at("gradient." + name));
  for (const auto& p : parameters) close(out.at(next++), c.at("gradient." + p.path));
  EXPECT_EQ(next, out.size());
}

TEST_P(SequenceFixtures, AgreeWithPyTorch) {
  std::set<std::string> seen;
  for (const Case& c : testing::read_cases("sequence")) {
    SCOPED_TRACE(c.text + " in0 " + c.at("in0").type_string());
    seen.insert(c.name);
    check(c, GetParam());
    if (HasFatalFailure()) return;
  }
  EXPECT_EQ(seen.size(), 13U);
}

INSTANTIATE_TEST_SUITE_P(Backends, SequenceFixtures, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace tightloop::nn
