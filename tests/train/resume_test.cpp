// SPDX-License-Identifier: Apache-2.0
// A run that ends at any step and goes on from its checkpoint equals the one that never ended, bit for bit.
#include <tests/support/files.h>
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/callbacks/checkpoint.h>
#include <tightloop/train/callbacks/early_stopping.h>
#include <tightloop/train/callbacks/ema.h>
#include <tightloop/train/callbacks/nan_guard.h>
#include <tightloop/train/trainer.h>

#include <cmath>
#include <random>

namespace tightloop::train {
namespace {

using testing::TempDir;

struct Net : nn::Module {
  nn::Linear in{3, 8};
  nn::BatchNorm1d norm{8};
  nn::Dropout dropout{0.3};
  nn::Linear out{8, 1};
  void fields(nn::Fields& f) override { f("in", in)("norm", norm)("dropout", dropout)("out", out); }
  Tensor operator()(const Tensor& x) { return out(dropout(relu(norm(in(x))))); }
};

float noise(std::int64_t i) { return static_cast<float>((i * 7919 % 101) - 50) / 50.0f; }

data::Dataset rows(std::int64_t n, std::int64_t offset = 0) {
  Array x(DType::f32, {n, 3}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t c = 0; c < 3; ++c) x.set(3 * i + c, noise(3 * (i + offset) + c));
    y.set(i, x.at(3 * i) - 2 * x.at(3 * i + 1) * x.at(3 * i + 2));
  }
  return data::Dataset({{"x", x}, {"y", y}});
}

/// Ends the run after step `at`.
struct StopAfter : Callback {
  explicit StopAfter(std::int64_t at) : at(at) {}
  std::string_view name() const override { return "stop_after"; }
  std::int64_t pause_after(std::int64_t step) const override {
    return step < at ? at : std::numeric_limits<std::int64_t>::max();
  }
  void step(Run& run) override {
    ASSERT_LE(run.step(), at) << "a chunk went past the step that was asked for";
    if (run.step() == at) run.stop("enough");
  }
  std::int64_t at;
};

struct Result {
  History history;
  std::vector<std::pair<std::string, Array>> states;
};

class Resume : public ::testing::TestWithParam<Backend> {
 protected:
  TrainerOptions options() const {
    TrainerOptions o;
    o.epochs = 6;
    o.batch = 16;
    o.seed = 3;
    o.metrics = {"mae"};
    o.compile.backend = GetParam();
    o.compile.disk_cache = false;
    o.update.schedule = optim::sequence(
        {{optim::make_schedule("linear", {{"start_factor", 0.1}}), 7}, {optim::make_schedule("cosine")}});
    o.update.per_step = true;
    o.update.gradients = {.clip_norm = 0.5};
    o.callbacks = {std::make_shared<Ema>(EmaOptions{.decay = 0.9}), std::make_shared<NanGuard>(),
                   std::make_shared<EarlyStopping>(EarlyStoppingOptions{.patience = 4})};
    return o;
  }

  static Result fit(const TrainerOptions& o) {
    Net net;
    Result out;
    out.history =
        Trainer(o).fit(net, nn::make_loss("mse"), optim::AdamW({.lr = 0.05}), rows(70), rows(20, 70));
    for (const auto& s : net.states()) out.states.emplace_back(s.path, s.array().clone());
    return out;
  }

  /// The run, ended after `step` and gone on with.
  Result in_two(TrainerOptions o, std::int64_t step, const std::string& folder) const {
    TrainerOptions first = o;
    first.callbacks = options().callbacks;
    first.callbacks.push_back(std::make_shared<StopAfter>(step));
    first.callbacks.push_back(std::make_shared<CheckpointFiles>(CheckpointOptions{.directory = folder}));
    fit(first);
    o.resume = find_checkpoint(folder, "last").path;
    o.callbacks = options().callbacks;
    return fit(o);
  }

  static void expect_same(const Result& a, const Result& b) {
    ASSERT_EQ(a.states.size(), b.states.size());
    for (std::size_t i = 0; i < a.states.size(); ++i)
      EXPECT_TRUE(identical(a.states[i].second, b.states[i].second)) << a.states[i].first;
    ASSERT_EQ(a.history.epochs.size(), b.history.epochs.size());
    for (std::size_t i = 0; i < a.history.epochs.size(); ++i) {
      const EpochRecord &x = a.history.epochs[i], &y = b.history.epochs[i];
      EXPECT_EQ(x.train_loss, y.train_loss) << "epoch " << i + 1;
      EXPECT_EQ(x.validation->loss, y.validation->loss) << "epoch " << i + 1;
      EXPECT_EQ(x.validation->metrics, y.validation->metrics) << "epoch " << i + 1;
      EXPECT_EQ(x.lr, y.lr) << "epoch " << i + 1;
      EXPECT_EQ(x.step, y.step);
    }
    EXPECT_EQ(a.history.reason, b.history.reason);
  }
};

TEST_P(Resume, EqualsTheRunThatDidNotEndAtAnyStep) {
  const Result whole = fit(options());
  EXPECT_EQ(whole.history.epochs[0].step, 5);
  std::mt19937 draw(5);
  std::vector<std::int64_t> steps{1, 5, 10, 14, 29};
  for (int i = 0; i < 3; ++i) steps.push_back(1 + static_cast<std::int64_t>(draw() % 28));
  for (const std::int64_t step : steps) {
    SCOPED_TRACE(step);
    const TempDir folder;
    expect_same(whole, in_two(options(), step, folder / "checkpoints"));
  }
}

TEST_P(Resume, GoesOnWithAPlateau) {
  TrainerOptions o = options();
  o.epochs = 12;
  o.update.schedule =
      optim::make_schedule("reduce_on_plateau", {{"patience", std::int64_t{0}}, {"threshold", 0.3}});
  const Result whole = fit(o);
  EXPECT_LT(whole.history.epochs.back().lr, 0.05)
      << "the rate must have fallen for this test to mean something";
  for (const std::int64_t step : {5, 23, 38}) {
    SCOPED_TRACE(step);
    const TempDir folder;
    expect_same(whole, in_two(o, step, folder / "checkpoints"));
  }
}

TEST_P(Resume, GoesOnInsideAnAccumulation) {
  TrainerOptions o = options();
  o.update.accumulate = 2;
  const Result whole = fit(o);
  for (const std::int64_t step : {3, 6}) {
    SCOPED_TRACE(step);
    const TempDir folder;
    expect_same(whole, in_two(o, step, folder / "checkpoints"));
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Resume, ::testing::Values(Backend::reference, Backend::cpu),
                         [](const auto& info) { return info.param == Backend::cpu ? "cpu" : "reference"; });

struct Checkpoints : ::testing::Test {
  TempDir folder;
  std::string directory = folder / "checkpoints";

  TrainerOptions options(CheckpointOptions c = {}) const {
    TrainerOptions o;
    o.epochs = 4;
    o.batch = 16;
    o.compile.backend = Backend::reference;
    c.directory = directory;
    o.callbacks = {std::make_shared<CheckpointFiles>(std::move(c))};
    return o;
  }
  template <class Rule = optim::Adam>
  History fit(const TrainerOptions& o, Rule rule = Rule({.lr = 0.01}), std::int64_t n = 70) const {
    Net net;
    return Trainer(o).fit(net, nn::make_loss("mse"), rule, rows(n), rows(20, 70));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& path : checkpoints_in(directory)) out.push_back(path.substr(directory.size() + 1));
    return out;
  }
};

TEST_F(Checkpoints, ComeWhenAskedAndTheOldestGo) {
  fit(options({.every_steps = 3, .keep = 3}));
  EXPECT_EQ(names(),
            (std::vector<std::string>{checkpoint_name(20), checkpoint_name(18), checkpoint_name(15)}));
  EXPECT_FALSE(std::filesystem::exists(directory + "/best.safetensors"));
}

TEST_F(Checkpoints, ByEpochsWithTheBest) {
  fit(options({.every_epochs = 2, .keep = 0, .best = true}));
  EXPECT_EQ(names(), (std::vector<std::string>{checkpoint_name(20), checkpoint_name(10)}));
  const Checkpoint best = read_checkpoint(directory + "/best.safetensors");
  EXPECT_EQ(best.step % 5, 0);
  ASSERT_NE(best.find("norm.running_mean"), nullptr);
  ASSERT_NE(best.find("optimizer.exp_avg.in.weight"), nullptr);
}

TEST_F(Checkpoints, ALongerRunGoesOnFromTheEnd) {
  TrainerOptions o = options();
  const History first = fit(o);
  o.resume = find_checkpoint(directory, "last").path;
  EXPECT_EQ(fit(o).epochs.size(), 4u) << "nothing is left to do";
  o.epochs = 6;
  const History more = fit(o);
  ASSERT_EQ(more.epochs.size(), 6u);
  EXPECT_EQ(more.epochs[3].train_loss, first.epochs[3].train_loss);
  TrainerOptions whole = options();
  whole.epochs = 6;
  EXPECT_EQ(fit(whole).epochs[5].train_loss, more.epochs[5].train_loss);
}

TEST_F(Checkpoints, DamageIsFoundAndTheOneBeforeIsTaken) {
  fit(options({.every_steps = 10, .keep = 0}));
  const std::string newest = directory + "/" + checkpoint_name(20);
  const std::string content = testing::content_of(newest);
  std::mt19937_64 draw(11);
  for (int i = 0; i < 40; ++i) {
    std::string broken = content;
    if (i % 2 == 0)
      broken.resize(i == 0 ? content.size() - 1 : draw() % content.size());
    else
      broken[draw() % content.size()] ^= static_cast<char>(1 << draw() % 8);
    testing::put(newest, broken);
    const FoundCheckpoint found = find_checkpoint(directory, "last");
    EXPECT_EQ(found.path, directory + "/" + checkpoint_name(10)) << "byte flipped or cut in try " << i;
    ASSERT_EQ(found.damaged.size(), 1u);
    EXPECT_NE(found.damaged[0].find(newest), std::string::npos);
    EXPECT_ERROR(find_checkpoint(directory, newest), newest);
  }
  testing::put(directory + "/" + checkpoint_name(10), "");
  EXPECT_ERROR(find_checkpoint(directory, "last"), "holds no checkpoint that is whole");
  EXPECT_ERROR(find_checkpoint(folder / "nothing", "last"), "holds no checkpoint to go on from");
}

TEST_F(Checkpoints, OfAnotherRunAreRefused) {
  TrainerOptions o = options();
  fit(o);
  o.resume = find_checkpoint(directory, "last").path;
  TrainerOptions batch = o;
  batch.batch = 8;
  EXPECT_ERROR(fit(batch), "belongs to a run over other data or in another order (70 rows, batch 16");
  EXPECT_ERROR(fit(o, optim::Adam(), 60), "now 60 rows");
  EXPECT_ERROR(fit(o, optim::Sgd({.momentum = 0.9})), "optimizer.momentum_buffer.in.weight");
  struct Wide : nn::Module {
    nn::Linear in{3, 9}, out{9, 1};
    void fields(nn::Fields& f) override { f("in", in)("out", out); }
    Tensor operator()(const Tensor& x) { return out(in(x)); }
  } wide;
  EXPECT_ERROR(Trainer(o).fit(wide, nn::make_loss("mse"), optim::Adam(), rows(70), rows(20, 70)),
               "in.weight: f32[8, 3] in the file, f32[9, 3] wanted");
}

TEST_F(Checkpoints, WeightsAloneAreNone) {
  io::write_safetensors(folder / "w.safetensors", {{{"a", Array(DType::f32, {2})}}, {}});
  EXPECT_ERROR(read_checkpoint(folder / "w.safetensors"), "is no checkpoint of a run");
}

}  // namespace
}  // namespace tightloop::train
