// SPDX-License-Identifier: Apache-2.0
// Weights in two places: reuse= of the forward text, training, files.
#include <tests/support/files.h>
#include <tightloop/io/safetensors.h>
#include <tightloop/nn/nn.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optimizer.h>
#include <tightloop/train/forward_model.h>
#include <tightloop/train/trainer.h>
#include <tightloop/train/weights.h>

namespace tightloop::train {
namespace {

/// A job whose model is this text, of integers k [B, 4] and floats x [B, 8].
std::unique_ptr<ForwardModel> model_of_text(const std::string& text) {
  Job::Model job;
  job.forward.text = text;
  job.forward.source = "job";
  return std::make_unique<ForwardModel>(
      job, std::vector<std::pair<std::string, TensorType>>{{"k", {DType::i64, {Dim::batch(), 4}}},
                                                           {"x", {DType::f32, {Dim::batch(), 8}}}});
}

std::vector<std::string> paths(ForwardModel& model) {
  std::vector<std::string> out;
  for (const auto& s : model.state_dict()) out.push_back(s.path);
  return out;
}

TEST(Reuse, AppliesALayerOnceMore) {
  const auto model = model_of_text("h = linear(x, 8, name=\"a\")\ny = linear(relu(h), reuse=\"a\")");
  EXPECT_EQ(paths(*model), (std::vector<std::string>{"a.weight", "a.bias"}));
  model->initialize(1);
  const Array w = model->state("a.weight").array();
  Array x(DType::f32, {1, 8});
  x.set(3, 1);
  const Tensor in[] = {Tensor(Array(DType::i64, {1, 4})), Tensor(x)};
  const Tensor once = relu(matmul_transposed(in[1], Tensor(w)) + model->state("a.bias").variable().value());
  const Tensor twice = matmul_transposed(once, Tensor(w)) + model->state("a.bias").variable().value();
  const Tensor y = (*model)(in);
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_NEAR(y.array().at(i), twice.array().at(i), 1e-6);
}

TEST(Reuse, TiesLayersOfOtherKinds) {
  const auto model = model_of_text(
      "h = mean(embedding(k, 5, 3, name=\"words\"), 1)\ny = linear(h, 5, name=\"out\", reuse=\"words\")");
  EXPECT_EQ(paths(*model), (std::vector<std::string>{"words.weight", "out.weight", "out.bias"}));
  EXPECT_EQ(model->count(), 5 * 3 + 5);
  model->initialize(1);
  EXPECT_TRUE(identical(model->state("words.weight").array(), model->state("out.weight").array()));
}

TEST(Reuse, SaysWhatItCannot) {
  EXPECT_ERROR(model_of_text("y = linear(x, 8, reuse=\"a\")"), "there is no layer 'a' before this");
  EXPECT_ERROR(model_of_text("h = linear(x, 8, name=\"a\")\ny = linear(h, 8, reuse=\"a\")"),
               "takes tensors only; its name and options are those of 'a'");
  EXPECT_ERROR(
      model_of_text("h = linear(x, 8, name=\"a\")\ny = prelu(h, reuse=\"a\")"),
      "prelu has no parameter in common with 'a': weight f32[1] against weight f32[8, 8], bias f32[8]");
  EXPECT_ERROR(model_of_text("h = linear(x, 8, name=\"a\")\ny = linear(h, reuse=3)"),
               "reuse must be the name of an earlier layer");
}

TEST(TiedWeights, AreUpdatedOnce) {
  Array k(DType::i64, {40, 4}), y(DType::i64, {40});
  for (std::int64_t i = 0; i < 160; ++i) k.set_int(i, (i * 7 + i / 4) % 5);
  for (std::int64_t i = 0; i < 40; ++i) y.set_int(i, k.int_at(4 * i));
  Job::Model job;
  job.forward.text =
      "h = mean(embedding(k, 5, 3, name=\"words\"), 1)\ny = linear(h, 5, bias=false, reuse=\"words\")";
  ForwardModel model(job, {{"k", {DType::i64, {Dim::batch(), 4}}}});
  model.initialize(1);
  TrainerOptions o;
  o.epochs = 3;
  const History h = Trainer(o).fit(model.model(), nn::make_loss("cross_entropy"),
                                   *optim::make_optimizer("sgd", {{"lr", 0.5}}),
                                   {.train = {data::Dataset({{"k", k}, {"y", y}})}, .validation = {}});
  EXPECT_LT(h.epochs.back().train_loss, h.epochs.front().train_loss);
  EXPECT_TRUE(identical(model.state("words.weight").array(), model.state("linear0.weight").array()));
}

TEST(TiedWeights, LoadFromOnePathAndRefuseTwoValues) {
  struct Tied : nn::Module {
    nn::Embedding table{3, 2};
    nn::Linear out{2, 3, {.bias = false}};
    Tied() { out.weight = table.weight.share(); }
    void fields(nn::Fields& f) override { f("table", table)("out", out); }
  };
  const testing::TempDir folder;
  const std::string path = folder / "w.safetensors";
  Tied a, b;
  a.initialize(1);
  b.initialize(2);
  save_weights(a, path);
  io::TensorFile file = io::read_safetensors(path);
  ASSERT_EQ(file.tensors.size(), 2u);
  load_weights(b, path);
  EXPECT_TRUE(identical(a.table.weight.array(), b.out.weight.array()));
  const auto second = file.tensors[1];
  file.tensors.pop_back();
  io::write_safetensors(path, file);
  b.initialize(3);
  load_weights(b, path);
  EXPECT_TRUE(identical(a.table.weight.array(), b.out.weight.array()));
  file.tensors.emplace_back(second.first, Array(DType::f32, {3, 2}));
  io::write_safetensors(path, file);
  EXPECT_ERROR(load_weights(b, path),
               "'table.weight' and 'out.weight' are one tensor of the model, but differ");
}

}  // namespace
}  // namespace tightloop::train
