// SPDX-License-Identifier: Apache-2.0
// GPT, the LSTM forecaster and the vision transformer: names and numbers of parameters, values and gradients.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/nn/models/gpt.h>
#include <tightloop/nn/models/lstm_forecaster.h>
#include <tightloop/nn/models/model.h>
#include <tightloop/nn/models/vit.h>
#include <tightloop/passes/differentiate.h>

#include <set>

namespace tightloop::nn {
namespace {

using testing::Case;

std::set<std::string> paths(Module& module) {
  std::set<std::string> out;
  for (const auto& s : module.state_dict()) out.insert(s.path);
  return out;
}

std::unique_ptr<Layer> model(const std::string& name, const Options& options, const TensorType& x) {
  const LayerDef& def = *find_layer_or_model(name);
  return def.build(resolve(name, options, def.options), x);
}

TEST(GPT, HasNanoGPTsParameters) {
  GPT gpt2({});
  EXPECT_EQ(gpt2.count(), 124439808);
  EXPECT_EQ(gpt2.parameters().size(), 148U);
  const auto names = paths(gpt2);
  for (const char* name : {"transformer.wte.weight", "transformer.wpe.weight", "transformer.h.0.ln_1.weight",
                           "transformer.h.11.attn.c_attn.weight", "transformer.h.3.attn.c_proj.bias",
                           "transformer.h.3.mlp.c_fc.weight", "transformer.h.3.mlp.c_proj.bias",
                           "transformer.ln_f.bias", "lm_head.weight"})
    EXPECT_TRUE(names.contains(name)) << name;
  // nanoGPT's train_shakespeare_char.py prints 10.65M without the positions.
  GPT characters(
      {.vocab_size = 65, .block_size = 256, .n_layer = 6, .n_head = 6, .n_embd = 384, .bias = false});
  EXPECT_EQ(characters.count() - 256 * 384, 10646784);
  characters.initialize(1);
  EXPECT_TRUE(identical(characters.parameter("lm_head.weight").array(),
                        characters.parameter("transformer.wte.weight").array()));
}

TEST(GPT, RefusesWhatDoesNotFit) {
  EXPECT_ERROR(GPT({.n_head = 5}), "gpt: n_embd 768 must be a multiple of n_head 5");
  EXPECT_ERROR(GPT({.n_layer = 0}), "gpt: n_layer must be 1 or greater, got 0");
  GPT small({.vocab_size = 5, .block_size = 4, .n_layer = 1, .n_head = 1, .n_embd = 2});
  small.initialize(1);
  EXPECT_ERROR(small(Array(DType::i64, {1, 5})),
               "gpt: ids must be whole numbers [B, T] with T of 1..4, got i64[1, 5]");
}

TEST(ViT, HasTorchvisionsParameters) {
  ViT b16({3, 224, 224});
  EXPECT_EQ(b16.count(), 86567656);
  const auto names = paths(b16);
  for (const char* name :
       {"class_token", "conv_proj.weight", "conv_proj.bias", "encoder.pos_embedding",
        "encoder.layers.encoder_layer_0.ln_1.weight",
        "encoder.layers.encoder_layer_11.self_attention.in_proj_weight",
        "encoder.layers.encoder_layer_2.self_attention.out_proj.bias",
        "encoder.layers.encoder_layer_2.mlp.0.weight", "encoder.layers.encoder_layer_2.mlp.3.bias",
        "encoder.ln.weight", "heads.head.weight"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_ERROR(ViT({3, 30, 32}), "vit: an image [3, 30, 32] is not made of whole patches of 16 x 16");
}

class SequenceModels : public ::testing::TestWithParam<CompileOptions> {};

TEST_P(SequenceModels, AgreeWithPyTorch) {
  std::set<std::string> seen;
  for (const Case& c : testing::read_cases("sequence_models")) {
    SCOPED_TRACE(c.text);
    seen.insert(c.name);
    const testing::Feed x{c.at("in0"), true}, upstream{c.at("upstream0"), true};
    const auto net = model(c.name, c.options, testing::type_of(x));
    for (const auto& s : net->state_dict()) s.assign(c.at("value." + s.path));
    const auto parameters = net->parameters();
    const auto out = testing::evaluate(GetParam(), {x, upstream}, [&](const std::vector<Tensor>& in) {
      const Tensor y = (*net)(in[0]);
      std::vector<Tensor> wrt, outputs{y};
      for (const auto& p : parameters) wrt.push_back(p.parameter->value());
      for (const Tensor& g : gradients(sum(y * in[1]), wrt)) outputs.push_back(g);
      return outputs;
    });
    testing::expect_close(out[0], c.at("y0"), 2e-5, 1e-5);
    std::size_t next = 1;
    for (const auto& p : parameters)
      testing::expect_close(out.at(next++), c.at("gradient." + p.path), 5e-5, 2e-5);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"gpt", "lstm_forecaster", "vit"}));
}

INSTANTIATE_TEST_SUITE_P(Backends, SequenceModels, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace tightloop::nn
