// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/callbacks/checkpoint.h>
#include <tightloop/train/callbacks/early_stopping.h>
#include <tightloop/train/callbacks/ema.h>
#include <tightloop/train/run.h>

#include <cmath>

namespace tightloop::train {
namespace {

struct Net : nn::Module {
  nn::Linear body{2, 4};
  nn::Linear head{4, 1};
  void fields(nn::Fields& f) override { f("body", body)("head", head); }
  Tensor operator()(const Tensor& x) { return head(tanh(body(x))); }
};

data::Dataset rows(std::int64_t n, std::int64_t from = 0) {
  Array x(DType::f32, {n, 2}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < 2 * n; ++i) x.set(i, static_cast<double>((i + from) * 7919 % 101) / 50 - 1);
  for (std::int64_t i = 0; i < n; ++i) y.set(i, x.at(2 * i) - x.at(2 * i + 1));
  return data::Dataset({{"x", x}, {"y", y}});
}

TrainerOptions options(Backend backend) {
  TrainerOptions o;
  o.epochs = 4;
  o.batch = 8;
  o.seed = 2;
  o.compile.backend = backend;
  o.compile.disk_cache = false;
  o.unfreeze = {{.at = 3, .match = {"body.*"}}};
  return o;
}

/// At the end of each epoch: body.bias and head.bias, and the states of the step.
struct Seen : Callback {
  std::string_view name() const override { return "seen"; }
  void epoch(Run& run, const EpochRecord&) override {
    auto of = [&](const char* path) { return run.session().program().state(path).clone(); };
    body.push_back(of("body.bias"));
    head.push_back(of("head.bias"));
    has_slot.push_back(run.session().has_state("optimizer.exp_avg.body.bias"));
    backward.push_back(run.session().bound().step().graph.output("body.weight") != nullptr);
    nodes.push_back(ir::topological(run.session().program().graph()).size());
  }
  std::vector<Array> body, head;
  std::vector<bool> has_slot, backward;
  std::vector<std::size_t> nodes;
};

class Unfreeze : public ::testing::TestWithParam<Backend> {
 protected:
  template <class Rule>
  static void fit(Net& net, const TrainerOptions& o, Rule rule) {
    net.initialize(7);
    Trainer(o).fit(net, nn::make_loss("mse"), rule, rows(24), rows(8, 50));
  }
};

TEST_P(Unfreeze, ParametersJoinInTheirEpoch) {
  Net net;
  TrainerOptions o = options(GetParam());
  const auto seen = std::make_shared<Seen>();
  o.callbacks = {seen};
  fit(net, o, optim::Adam({.lr = .02}));
  EXPECT_EQ(seen->has_slot, (std::vector<bool>{false, false, true, true})) << "no state for what is frozen";
  EXPECT_EQ(seen->backward, (std::vector<bool>{false, false, true, true}));
  EXPECT_LT(seen->nodes[0], seen->nodes[3]) << "no backward for what is frozen";
  EXPECT_TRUE(identical(seen->body[0], seen->body[1]));
  EXPECT_FALSE(identical(seen->body[1], seen->body[2]));
  EXPECT_FALSE(identical(seen->head[0], seen->head[1]));
  EXPECT_FALSE(net.body.weight.frozen()) << "as it was before";
}

/// The body gets what a run of its own, from the weights of epoch 2 on, would give it; the head goes on.
TEST_P(Unfreeze, WhatJoinsBeginsAsInAFreshRunAndTheRestGoesOn) {
  Net staged, two;
  TrainerOptions o = options(GetParam());
  o.shuffle = false;
  fit(staged, o, optim::Adam({.lr = .02}));
  TrainerOptions first = o;
  first.unfreeze.clear();
  first.epochs = 2;
  two.body.freeze();
  fit(two, first, optim::Adam({.lr = .02}));
  two.body.freeze(false);
  first.epochs = 1;  // only its first step is the same in both: the head has other moments
  first.max_steps = 1;
  const auto seen = std::make_shared<Seen>();
  first.callbacks = {seen};
  Trainer(first).fit(two, nn::make_loss("mse"), optim::Adam({.lr = .02}), rows(24));
  TrainerOptions cut = o;
  cut.max_steps = 7;
  Net after;
  fit(after, cut, optim::Adam({.lr = .02}));
  for (std::int64_t i = 0; i < 8; ++i)
    EXPECT_NEAR(after.body.weight.array().at(i), two.body.weight.array().at(i), 2e-6);
  EXPECT_GT(std::abs(after.head.bias->array().at(0) - two.head.bias->array().at(0)), 1e-6)
      << "the head's moments were carried over";
}

TEST_P(Unfreeze, AStageWithoutAChangeIsTheSameRun) {
  Net plain, staged;
  TrainerOptions o = options(GetParam());
  o.unfreeze.clear();
  fit(plain, o, optim::Adam({.lr = .02}));
  o.unfreeze = {{.at = 1, .match = {"body.*"}}};
  fit(staged, o, optim::Adam({.lr = .02}));
  EXPECT_TRUE(identical(plain.body.weight.array(), staged.body.weight.array()));
}

TEST_P(Unfreeze, GoesOnFromAnyStage) {
  Net whole;
  TrainerOptions o = options(GetParam());
  o.epochs = 6;
  o.unfreeze = {{.at = 3, .match = {"body.bias"}}, {.at = 5, .match = {"body.weight"}}};
  const auto callbacks = [] {
    return std::vector<std::shared_ptr<Callback>>{
        std::make_shared<Ema>(EmaOptions{.decay = .8}),
        std::make_shared<EarlyStopping>(EarlyStoppingOptions{.patience = 9})};
  };
  o.callbacks = callbacks();
  fit(whole, o, optim::AdamW({.lr = .02}));
  for (const std::int64_t step : {1, 6, 7, 12, 17}) {
    SCOPED_TRACE(step);
    const testing::TempDir folder;
    TrainerOptions first = o;
    first.callbacks = callbacks();
    first.callbacks.push_back(std::make_shared<CheckpointFiles>(
        CheckpointOptions{.directory = folder.path(), .every_steps = step, .keep = 0}));
    Net cut, on;
    fit(cut, first, optim::AdamW({.lr = .02}));
    TrainerOptions second = o;
    second.callbacks = callbacks();
    second.resume = folder / checkpoint_name(step);
    fit(on, second, optim::AdamW({.lr = .02}));
    for (const auto& s : on.states())
      EXPECT_TRUE(identical(s.array(), whole.state(s.path).array())) << s.path;
  }
}

TEST_P(Unfreeze, TheBestWeightsAreThoseOfOneEpoch) {
  struct Worse : Callback {
    std::string_view name() const override { return "worse"; }
    void measure(train::Run&, EpochRecord& e) override { e.validation->loss = static_cast<double>(e.epoch); }
  };
  TrainerOptions o = options(GetParam());
  const auto seen = std::make_shared<Seen>();
  o.callbacks = {std::make_shared<Worse>(), seen,
                 std::make_shared<EarlyStopping>(EarlyStoppingOptions{.patience = 9})};
  Net net;
  fit(net, o, optim::Adam({.lr = .02}));
  EXPECT_TRUE(identical(net.head.bias->array(), seen->head[0]));
  EXPECT_TRUE(identical(net.body.bias->array(), seen->body[0])) << "frozen then, trained since";
}

TEST_P(Unfreeze, FrozenNormsEvaluateIfAsked) {
  struct Normed : nn::Module {
    nn::BatchNorm1d norm{2};
    nn::Linear out{2, 1};
    void fields(nn::Fields& f) override { f("norm", norm)("out", out); }
    Tensor operator()(const Tensor& x) { return out(norm(x)); }
  };
  for (const bool evaluates : {false, true}) {
    Normed net;
    net.norm.freeze();
    TrainerOptions o = options(GetParam());
    o.unfreeze = {{.at = 4, .match = {"norm.*"}}};
    o.frozen_norm_evaluates = evaluates;
    Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .1}), rows(24));
    EXPECT_EQ(net.norm.num_batches_tracked->array().int_at(0), evaluates ? 3 : 12);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Unfreeze, ::testing::Values(Backend::reference, Backend::cpu),
                         [](const auto& info) { return info.param == Backend::cpu ? "cpu" : "reference"; });

TEST(Stages, RefuseWhatMatchesNothing) {
  Net net;
  net.initialize(1);
  EXPECT_ERROR(Stages({{.at = 2, .match = {"bodi.*"}}}, &net), "did you mean 'body.*'?");
  EXPECT_ERROR(Stages({{.at = 0, .match = {"body.*"}}}, &net), "at must be an epoch from 1 on");
  EXPECT_ERROR(Stages({{.at = 2, .match = {}}}, &net), "has no pattern");
}

TEST(Unfreezing, RefusesStagesThatTrainNothing) {
  Net net;
  TrainerOptions o = options(Backend::reference);
  const auto run = [&] { Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd(), rows(8)); };
  o.unfreeze = {{.at = 5, .match = {"body.*"}}};
  EXPECT_ERROR(run(), "unfreeze: joins in epoch 5, but the run has 4");
  o.unfreeze = {{.at = 2, .match = {"*"}}};
  EXPECT_ERROR(run(), "unfreeze: leaves nothing to train in the first epoch");
  EXPECT_FALSE(net.body.weight.frozen()) << "as it was before";
  o.max_steps = 1;
  o.unfreeze = {{.at = 3, .match = {"body.*"}}};
  run();
}

TEST(Groups, MayNameWhatIsFrozen) {
  Net net;
  net.body.freeze();
  TrainerOptions o = options(Backend::reference);
  o.unfreeze.clear();
  o.epochs = 1;
  Trainer(o).fit(net, nn::make_loss("mse"),
                 optim::with_groups(optim::Sgd({.lr = .1}), {{.pattern = "body.*", .lr = .01}}), rows(16));
}

}  // namespace
}  // namespace tightloop::train
