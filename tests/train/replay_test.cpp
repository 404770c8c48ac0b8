// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/adam.h>
#include <tightloop/optim/lbfgs.h>
#include <tightloop/optim/sgd.h>
#include <tightloop/train/callbacks/checkpoint.h>
#include <tightloop/train/replay.h>

#include <gtest/gtest.h>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

struct Net : nn::Module {
  nn::Linear first{2, 6};
  nn::BatchNorm1d norm{6};
  nn::Dropout drop{0.3};
  nn::Linear last{6, 1};
  void fields(nn::Fields& f) override { f("first", first)("norm", norm)("drop", drop)("last", last); }
  Tensor operator()(Tensor x) { return last(drop(relu(norm(first(x))))); }
};

data::Dataset rows(std::int64_t n) {
  Array x(DType::f32, {n, 2}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = static_cast<double>(i * 37 % 41) / 20 - 1, b = static_cast<double>(i * 17 % 29) / 14 - 1;
    x.set(2 * i, a), x.set(2 * i + 1, b), y.set(i, a - 2 * b + 0.5);
  }
  return data::Dataset({{"x", x}, {"y", y}});
}

const nn::LossFn kMse = nn::make_loss("mse");

/// A run of 3 epochs of 7 steps whose every state is kept.
struct Replayed : testing::Test {
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tightloop-replay-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder = name;
    options.epochs = 3;
    options.batch = 8;
    options.seed = 4;
    options.compile.backend = Backend::reference;
    options.update.ema = 0.9;
    options.update.schedule = optim::make_schedule("reduce_on_plateau", {{"patience", std::int64_t{0}}});
    TrainerOptions all = options;
    all.callbacks.push_back(std::make_shared<CheckpointFiles>(
        CheckpointOptions{.directory = folder, .every_steps = 1, .keep = 0, .at_end = false}));
    Net net;
    net.initialize(1);
    Trainer(all).fit(net, kMse, rule, data.train.data, data.validation->data);
  }
  void TearDown() override { fs::remove_all(folder); }

  ReplayedStep replay_step(std::int64_t step, std::int64_t from, bool verify = false) const {
    Net net;
    net.initialize(1);
    TrainerOptions o = options;
    if (from > 0) o.resume = (fs::path(folder) / checkpoint_name(from)).string();
    return replay(model_of(net), kMse, rule, data, o, {}, step, verify);
  }

  std::string folder;
  TrainerOptions options;
  optim::Adam rule{{.lr = 0.02}};
  TrainingData data{.train = {rows(50)}, .validation = DataPart{rows(20)}};
};

TEST_F(Replayed, LeavesEveryBitAsTheRunDid) {
  for (const auto& [step, from] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {0, 0}, {1, 0}, {5, 0}, {5, 5}, {7, 0}, {7, 7}, {8, 7}, {9, 2}, {14, 6}, {19, 14}, {20, 20}}) {
    SCOPED_TRACE(testing::Message() << step << " from " << from);
    const ReplayedStep r = replay_step(step, from);
    const Checkpoint after = read_checkpoint((fs::path(folder) / checkpoint_name(step + 1)).string());
    EXPECT_EQ(r.step, step);
    EXPECT_EQ(r.epoch, step / 7 + 1);
    EXPECT_EQ(r.from, from);
    int compared = 0;
    for (const auto& [name, value] : r.states) {
      if (name == kLossSum || name == kWeightSum) continue;  // of this step alone
      const Array* expected = after.find(name);
      ASSERT_NE(expected, nullptr) << name;
      EXPECT_EQ(std::memcmp(expected->bytes(), value.bytes(), value.size_bytes()), 0) << name;
      ++compared;
    }
    EXPECT_GT(compared, 20);
  }
}

TEST_F(Replayed, TellsRowsLossAndRate) {
  const ReplayedStep r = replay_step(9, 8);
  const Sampling sampling{.rows = 50, .batch = 8, .shuffle = true, .seed = 4};
  std::vector<std::int64_t> expected(8);
  sampling.fill(sampling.at(9), expected.data());
  EXPECT_EQ(r.rows, expected);
  EXPECT_GT(r.loss, 0);
  EXPECT_GT(r.lr, 0);
  EXPECT_EQ(r.origin.kind, Origin::Kind::none);
  EXPECT_EQ(r.broken_rule, "");
  EXPECT_EQ(replay_step(6, 0).rows.size(), 2u) << "the short last batch";
  EXPECT_FALSE(replay_step(9, 8, true).difference.has_value());
}

TEST_F(Replayed, RefusesAStepThatIsNot) {
  for (const std::int64_t step : {21, 1000, -1}) {
    try {
      replay_step(step, 0);
      ADD_FAILURE() << step;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("there is no step"), std::string::npos) << e.what();
    }
  }
}

struct Slope : nn::Module {
  Parameter w{{1}};
  void fields(nn::Fields& f) override { f("w", w); }
  Tensor operator()(Tensor x) { return w * x; }
};

data::Dataset line(double last) {
  Array x(DType::f32, {4, 1}), y(DType::f32, {4, 1});
  for (std::int64_t i = 0; i < 4; ++i) x.set(i, static_cast<double>(i) - 1), y.set(i, 2);
  x.set(3, last);
  return data::Dataset({{"x", x}, {"y", y}});
}

ReplayedStep replay_line(double last, std::int64_t step) {
  Slope net;
  net.w.assign(Array::of<float>({1}, {0.5f}));
  TrainerOptions o;
  o.batch = 2;
  o.shuffle = false;
  o.compile.backend = Backend::reference;
  o.update.gradients.clip_norm = 0.125;
  return replay(model_of(net), kMse, optim::Sgd({.lr = 0.5}), {.train = {line(last)}}, o, {}, step);
}

TEST(Replay, MeasuresGradientsBeforeClippingAndUpdatesAfter) {
  // x = -1, 0; y = 2: the loss is ((0.5·x - 2)²) on average, its gradient x·2·(0.5·x - 2) on average
  const ReplayedStep r = replay_line(5, 0);
  EXPECT_NEAR(r.loss, (2.5 * 2.5 + 4) / 2, 1e-6);
  ASSERT_EQ(r.parameters.size(), 1u);
  EXPECT_EQ(r.parameters[0].path, "w");
  EXPECT_NEAR(r.parameters[0].norm, 0.5, 1e-7);
  EXPECT_NEAR(r.parameters[0].gradient, 2.5, 1e-6);
  EXPECT_NEAR(r.gradient_norm, 2.5, 1e-6);
  EXPECT_NEAR(r.parameters[0].update, 0.5 * 0.125, 1e-6);
  EXPECT_NEAR(r.lr, 0.5, 1e-12);
  EXPECT_EQ(r.rows, (std::vector<std::int64_t>{0, 1}));
}

TEST(Replay, NamesWhatIsNotFinite) {
  const ReplayedStep r = replay_line(std::numeric_limits<double>::quiet_NaN(), 1);
  EXPECT_EQ(r.origin.kind, Origin::Kind::data);
  EXPECT_NE(r.origin.text.find("nan in the data of 'x', row 4 (rows count from 1)"), std::string::npos)
      << r.origin.text;
  EXPECT_TRUE(std::isnan(r.loss));
  EXPECT_TRUE(std::isnan(r.parameters[0].gradient));
}

struct Classes : nn::Module {
  nn::Linear lin{1, 2};
  void fields(nn::Fields& f) override { f("lin", lin); }
  Tensor operator()(Tensor x) { return lin(x); }
};

TEST(Replay, NamesTheRuleThatTheRowsBreak) {
  Array c(DType::i64, {4});
  c.set_int(1, 9);
  Classes net;
  TrainerOptions o;
  o.batch = 4;
  o.compile.backend = Backend::reference;
  const ReplayedStep r = replay(model_of(net), nn::make_loss("cross_entropy"), optim::Sgd({.lr = 0.01}),
                                {.train = {data::Dataset({{"x", line(1)["x"]}, {"c", c}})}}, o, {}, 0);
  EXPECT_NE(r.broken_rule.find("target 9 in row 2"), std::string::npos) << r.broken_rule;
}

}  // namespace
}  // namespace tightloop::train
