// SPDX-License-Identifier: Apache-2.0
// Recurrent layers, attention and their models in a forward text.
#include <tests/support/files.h>
#include <tightloop/train/forward_model.h>

#include <gtest/gtest.h>

namespace tightloop::train {
namespace {

std::unique_ptr<ForwardModel> model_of(const std::string& forward) {
  Job::Model job;
  job.forward = {forward, "job.toml", 0, 1};
  return std::make_unique<ForwardModel>(
      job, std::vector<std::pair<std::string, TensorType>>{{"x", {DType::f32, {Dim::batch(), 6, 4}}},
                                                           {"ids", {DType::i64, {Dim::batch(), 6}}},
                                                           {"image", {DType::f32, {Dim::batch(), 2, 8, 4}}}});
}

TEST(SequenceText, LayersAndModelsHaveTheirTypes) {
  const std::pair<const char*, const char*> cases[] = {
      {"y = lstm(x, 8, num_layers=2)", "f32[B, 6, 8]"},
      {"y = lstm(x, 8)[:, -1]", "f32[B, 8]"},
      {"y = lstm(x, 8, bidirectional=true, last=true)", "f32[B, 16]"},
      {"y = lstm(x, 8, proj_size=3)", "f32[B, 6, 3]"},
      {"y = rnn(x, 8, nonlinearity='relu')", "f32[B, 6, 8]"},
      {"y = gru(x, 8, last=true)", "f32[B, 8]"},
      {"y = multihead_attention(x, 2, is_causal=true, rope_base=10000)", "f32[B, 6, 4]"},
      {"y = transformer_encoder(sinusoidal_positions(x), 2, 3, norm_first=true)", "f32[B, 6, 4]"},
      {"y = transformer_encoder_layer(learned_positions(x), 2, activation='gelu')", "f32[B, 6, 4]"},
      {"y = rotary_positions(x)", "f32[B, 6, 4]"},
      {"y = lstm_forecaster(x, horizon=3)", "f32[B, 3]"},
      {"y = transpose(gpt(ids, 11, n_layer=1, n_head=2, n_embd=8), 1, 2)", "f32[B, 11, 6]"},
      {"y = vit(image, 5, patch_size=4, num_layers=1, num_heads=2, hidden_dim=8, mlp_dim=8)", "f32[B, 5]"}};
  for (const auto& [text, type] : cases) EXPECT_EQ(to_string(model_of(text)->output()), type) << text;
}

TEST(SequenceText, ParametersHavePyTorchsNamesBelowTheLayers) {
  const auto model = model_of("y = transformer_encoder(x, 2, 1, name='enc')[:, 0]");
  EXPECT_EQ(model->parameter("enc.layers.0.self_attn.in_proj_weight").dims(),
            (std::vector<std::int64_t>{12, 4}));
  EXPECT_EQ(model_of("y = lstm(x, 8, name='net')")->parameter("net.weight_ih_l0").dims(),
            (std::vector<std::int64_t>{32, 4}));
}

TEST(SequenceText, MistakesAreToldAtTheirPlace) {
  EXPECT_ERROR(model_of("y = lstm(ids, 8)"), "job.toml:1:5: lstm: x must be [B, T, features], got i64[B, 6]");
  EXPECT_ERROR(model_of("y = multihead_attention(x, 3)"), "embed_dim 4 must be a multiple of num_heads 3");
  EXPECT_ERROR(model_of("y = rnn(x, 8, nonlinearity='elu')"),
               "rnn: nonlinearity must be 'tanh' or 'relu', not 'elu'");
  EXPECT_ERROR(model_of("y = lstn(x, 8)"), "did you mean 'lstm'?");
}

}  // namespace
}  // namespace tightloop::train
