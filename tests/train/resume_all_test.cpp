// SPDX-License-Identifier: Apache-2.0
// Runs with everything on, gone on with from checkpoints at random steps: bit for bit the run that never
// ended.
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
#include <tightloop/train/callbacks/run_monitor.h>
#include <tightloop/train/callbacks/swa.h>
#include <tightloop/train/trainer.h>

#include <random>
#include <set>

namespace tightloop::train {
namespace {

using testing::TempDir;

struct Net : nn::Module {
  nn::Linear in{25, 6};
  nn::BatchNorm1d norm{6};
  nn::Dropout dropout{0.3};
  nn::Linear out{6, 1};
  void fields(nn::Fields& f) override { f("in", in)("norm", norm)("dropout", dropout)("out", out); }
  Tensor operator()(const Tensor& x) { return out(dropout(relu(norm(in(flatten(x, 1)))))); }
};

/// Images u8 [n, 1, 5, 5] and a number each.
data::Dataset rows(std::int64_t n, std::int64_t from = 0) {
  Array x(DType::u8, {n, 1, 5, 5}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < 25 * n; ++i) x.set(i, static_cast<double>((i + 31 * from) * 7919 % 251));
  for (std::int64_t i = 0; i < n; ++i) y.set(i, (x.at(25 * i) - x.at(25 * i + 12)) / 100);
  return data::Dataset({{"x", x}, {"y", y}});
}

enum class Averages : std::uint8_t { ema, swa };

struct Everything {
  explicit Everything(Averages averages) : averages(averages) {
    data.train.transforms.emplace();
    data.train.transforms->add("random_crop", {{"size", Numbers{5}}, {"padding", Numbers{1}}});
    data.train.transforms->add("horizontal_flip");
  }

  TrainerOptions options() const {
    TrainerOptions o;
    o.epochs = 11;
    o.batch = 8;
    o.seed = 5;
    o.metrics = {"mae"};
    o.compile.cache_directory = cache.path();
    o.update.schedule = optim::make_schedule("one_cycle", {{"max_lr", 0.05}});
    o.update.per_step = true;
    o.update.accumulate = 2;
    o.update.gradients = {.clip_norm = 0.5, .noise = 1e-4};
    o.unfreeze = {{.at = 3, .match = {"in.weight"}}};
    o.callbacks = {
        std::make_shared<NanGuard>(NanGuardOptions{.skip = true, .every_steps = 5, .spike = {.factor = 50}}),
        std::make_shared<RunMonitor>(RunMonitorOptions{.throughput = false}),
        std::make_shared<EarlyStopping>(EarlyStoppingOptions{.patience = 6})};
    if (averages == Averages::ema)
      o.callbacks.push_back(std::make_shared<Ema>(EmaOptions{.decay = 0.9}));
    else
      o.callbacks.push_back(std::make_shared<Swa>(SwaOptions{.lr = .01, .start = 4, .anneal_epochs = 3}));
    return o;
  }

  struct Result {
    History history;
    std::vector<std::pair<std::string, Array>> states;
  };
  Result fit(const TrainerOptions& o) const {
    Net net;
    Result out;
    out.history = Trainer(o).fit(model_of(net), nn::make_loss("mse"), optim::AdamW({.lr = 0.02}), data);
    for (const auto& s : net.states()) out.states.emplace_back(s.path, s.array().clone());
    return out;
  }

  Averages averages;
  TempDir cache;
  TrainingData data{.train = DataPart{rows(43)}, .validation = DataPart{rows(12, 43)}};
};

void expect_same(const Everything::Result& a, const Everything::Result& b) {
  for (std::size_t i = 0; i < a.states.size(); ++i)
    EXPECT_TRUE(identical(a.states[i].second, b.states[i].second)) << a.states[i].first;
  ASSERT_EQ(a.history.epochs.size(), b.history.epochs.size());
  for (std::size_t i = 0; i < a.history.epochs.size(); ++i) {
    const EpochRecord &x = a.history.epochs[i], &y = b.history.epochs[i];
    EXPECT_EQ(x.train_loss, y.train_loss) << "epoch " << i + 1;
    EXPECT_EQ(x.validation->loss, y.validation->loss) << "epoch " << i + 1;
    EXPECT_EQ(x.validation->metrics, y.validation->metrics) << "epoch " << i + 1;
    EXPECT_EQ(x.lr, y.lr) << "epoch " << i + 1;
    EXPECT_EQ(x.extra, y.extra) << "epoch " << i + 1;
  }
  EXPECT_EQ(a.history.reason, b.history.reason);
}

class ResumeAll : public ::testing::TestWithParam<Averages> {};

TEST_P(ResumeAll, AtFiftyRandomSteps) {
  const Everything all(GetParam());
  const TempDir folder;
  TrainerOptions first = all.options();
  first.callbacks.push_back(std::make_shared<CheckpointFiles>(
      CheckpointOptions{.directory = folder.path(), .every_steps = 1, .keep = 0}));
  const Everything::Result whole = all.fit(first);
  const std::int64_t last = whole.history.steps;
  ASSERT_GT(last, 40);
  std::mt19937 draw(17);
  std::set<std::int64_t> steps{1, last - 1};
  while (steps.size() < std::min<std::size_t>(25, static_cast<std::size_t>(last) - 1))
    steps.insert(1 + static_cast<std::int64_t>(draw() % static_cast<std::uint32_t>(last - 1)));
  for (const std::int64_t step : steps) {
    SCOPED_TRACE(step);
    TrainerOptions o = all.options();
    o.resume = folder / checkpoint_name(step);
    expect_same(whole, all.fit(o));
  }
}

INSTANTIATE_TEST_SUITE_P(Averages, ResumeAll, ::testing::Values(Averages::ema, Averages::swa),
                         [](const auto& info) { return info.param == Averages::ema ? "ema" : "swa"; });

TEST(Epochs, MemoryIsFlat) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the address sanitizer keeps what was freed";
#endif
  struct Pages : Callback {
    std::string_view name() const override { return "pages"; }
    void epoch(train::Run&, const EpochRecord& e) override {
      std::ifstream in("/proc/self/statm");
      std::int64_t all = 0, resident = 0;
      in >> all >> resident;
      if (e.epoch == 20) early = resident;
      if (e.epoch == 200) late = resident;
    }
    std::int64_t early = 0, late = 0;
  };
  const Everything all(Averages::ema);
  const TempDir folder;
  TrainerOptions o = all.options();
  o.epochs = 200;
  std::erase_if(o.callbacks, [](const auto& c) { return c->name() == "early_stopping"; });
  const auto pages = std::make_shared<Pages>();
  o.callbacks.push_back(pages);
  o.callbacks.push_back(std::make_shared<CheckpointFiles>(
      CheckpointOptions{.directory = folder.path(), .every_epochs = 1, .best = true}));
  all.fit(o);
  ASSERT_GT(pages->early, 0);
  EXPECT_LE(pages->late, pages->early + pages->early / 20) << "pages of 4 KiB";
}

}  // namespace
}  // namespace tightloop::train
