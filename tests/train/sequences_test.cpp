// SPDX-License-Identifier: Apache-2.0
// Each callback that watches a metric, by a table of metric sequences. The runs are real but for the metric:
// the weight is w = e at the end of epoch e as long as the rate is 1, so the model tells whose weights it
// ended with.
#include <tests/support/files.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/callbacks/checkpoint.h>
#include <tightloop/train/callbacks/index.h>
#include <tightloop/train/callbacks/swa.h>
#include <tightloop/train/run.h>

#include <cmath>

namespace tightloop::train {
namespace {

const double kNaN = std::nan("");

/// y = w
struct One : nn::Module {
  Parameter w{{1}};
  void fields(nn::Fields& f) override { f("w", w); }
  Tensor operator()(const Tensor& x) { return x * 0.0 + w; }
};

/// Puts the next number of a sequence in the place of the validation loss.
struct Told : Callback {
  explicit Told(std::vector<double> losses) : losses(std::move(losses)) {}
  std::string_view name() const override { return "told"; }
  void measure(Run&, EpochRecord& e) override {
    if (e.validation) e.validation->loss = losses[static_cast<std::size_t>(e.epoch) - 1];
  }
  std::vector<double> losses;
};

struct Outcome {
  History history;
  double weight = 0;
};

Outcome run(const std::vector<double>& losses, std::vector<std::shared_ptr<Callback>> callbacks,
            std::int64_t evaluate_every = 1, optim::SchedulePtr schedule = nullptr, double lr = 1) {
  One net;
  net.w.assign(Array(DType::f32, {1}));
  Array x(DType::f32, {1, 1}), y(DType::f32, {1, 1});
  y.set(0, 1000);
  const data::Dataset rows({{"x", x}, {"y", y}});
  TrainerOptions o;
  o.epochs = static_cast<std::int64_t>(losses.size());
  o.batch = 1;
  o.evaluate_every = evaluate_every;
  o.compile.backend = Backend::reference;
  o.update.schedule = std::move(schedule);
  o.callbacks = {std::make_shared<Told>(losses)};
  o.callbacks.insert(o.callbacks.end(), callbacks.begin(), callbacks.end());
  Outcome out{Trainer(o).fit(net, nn::make_loss("l1"), optim::Sgd({.lr = lr}), rows, rows)};
  out.weight = net.w.array().at(0);
  return out;
}

struct Case {
  const char* name;
  const char* callback;
  Options options;
  std::vector<double> losses;
  std::size_t epochs;  ///< that the run took
  double weight;       ///< the epoch whose weights the model has
  std::int64_t evaluate_every = 1;
};

const Case kCases[] = {
    {"EndsAfterItsPatience",
     "early_stopping",
     {{"patience", std::int64_t{2}}},
     {270.59, 113.69, 58.80, 45.06, 36.83, 33.2164, 38.88, 48.58, 1},
     8,
     6},
    {"RestoresTheBestWhenTheEpochsEndFirst",
     "early_stopping",
     {{"patience", std::int64_t{2}}},
     {270.59, 113.69, 58.80, 45.06, 36.83, 33.2164, 38.88},
     7,
     6},
    {"KeepsTheLastIfAsked",
     "early_stopping",
     {{"patience", std::int64_t{2}}, {"restore_best", false}},
     {3, 2, 4, 5, 1},
     4,
     4},
    {"NaNIsNeverBetter",
     "early_stopping",
     {{"patience", std::int64_t{3}}},
     {1.0, kNaN, .9, kNaN, kNaN, kNaN, .1},
     6,
     3},
    {"NaNFirst", "early_stopping", {{"patience", std::int64_t{2}}}, {kNaN, 1, kNaN, kNaN, .1}, 4, 2},
    {"MinDelta",
     "early_stopping",
     {{"patience", std::int64_t{2}}, {"min_delta", .01}},
     {1.0, .9995, .999, .9985},
     3,
     1},
    {"EqualIsNotBetter", "early_stopping", {{"patience", std::int64_t{3}}}, {1, 1, 1, 1, .5}, 4, 1},
    {"TheHighestIfAsked",
     "early_stopping",
     {{"patience", std::int64_t{2}}, {"mode", std::string("max")}},
     {.1, .5, .4, .3, .9},
     4,
     2},
    {"OnlyEvaluatedEpochsCount",
     "early_stopping",
     {{"patience", std::int64_t{2}}},
     {9, 1, 0, 2, 0, 3, 0, 0},
     6,
     2,
     2},
    {"AlwaysBetter", "early_stopping", {{"patience", std::int64_t{1}}}, {4, 3, 2, 1}, 4, 4},
    {"InfinityThenFinite",
     "early_stopping",
     {{"patience", std::int64_t{2}}},
     {INFINITY, 5, INFINITY, INFINITY, 1},
     4,
     2},
    {"StopsAtAValue", "stop_at", {{"value", .5}}, {1, kNaN, .6, .5, .1}, 4, 4},
    {"StopsAtAHighValue", "stop_at", {{"value", .5}, {"mode", std::string("max")}}, {.1, .4, .7, .1}, 3, 3},
    {"NeverThere", "stop_at", {{"value", .01}}, {1, .9, .8}, 3, 3},
};

class Sequences : public ::testing::TestWithParam<Case> {};

TEST_P(Sequences, EndAndRestore) {
  const Case& c = GetParam();
  const Outcome out = run(c.losses, {make_callback(c.callback, c.options)}, c.evaluate_every);
  EXPECT_EQ(out.history.epochs.size(), c.epochs);
  EXPECT_EQ(out.weight, c.weight);
  EXPECT_EQ(out.history.reason.empty(), c.epochs == c.losses.size());
}

INSTANTIATE_TEST_SUITE_P(All, Sequences, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

struct Falls {
  Options options;
  std::vector<double> losses, rates;
};

/// The rates of torch.optim.lr_scheduler.ReduceLROnPlateau.
TEST(Plateau, RatesFallByATable) {
  const std::vector<double> flat(7, 1.0);
  const Falls cases[] = {
      {{{"patience", std::int64_t{2}}}, flat, {.1, .1, .1, .1, .01, .01, .01}},
      {{{"patience", std::int64_t{0}}}, {3, 2, 2, 1, 1, kNaN}, {.1, .1, .1, .01, .01, .001}},
      {{{"patience", std::int64_t{0}}, {"factor", .5}, {"cooldown", std::int64_t{1}}},
       {1, 1, 1, 1, 1},
       {.1, .1, .05, .05, .025}},
      {{{"patience", std::int64_t{0}}, {"mode", std::string("max")}}, {1, 2, 1, 3}, {.1, .1, .1, .01}}};
  for (const Falls& c : cases) {
    const Outcome out = run(c.losses, {}, 1, optim::make_schedule("reduce_on_plateau", c.options), .1);
    for (std::size_t e = 0; e < c.rates.size(); ++e)
      EXPECT_NEAR(out.history.epochs[e].lr, c.rates[e], 1e-12) << "epoch " << e + 1;
  }
}

TEST(BestCheckpoint, IsThatOfTheBestEpoch) {
  const std::pair<std::vector<double>, std::int64_t> cases[] = {
      {{3, 1, 2}, 2}, {{kNaN, 5, 4, kNaN}, 3}, {{1, 1, 1}, 1}, {{3, 2, 1}, 3}};
  for (const auto& [losses, best] : cases) {
    const testing::TempDir folder;
    run(losses,
        {std::make_shared<CheckpointFiles>(CheckpointOptions{.directory = folder.path(), .best = true})});
    EXPECT_EQ(read_checkpoint(folder / kBestCheckpoint).step, best);
  }
}

/// Early stopping ends the run, and the model ends with the average of all its epochs.
TEST(Swa, TheModelEndsWithItsAverage) {
  const auto swa = std::make_shared<Swa>(SwaOptions{.lr = 1, .start = 2});
  const Outcome out =
      run({9, 8, 7, 1, 5, 5, 5}, {swa, make_callback("early_stopping", {{"patience", std::int64_t{2}}})});
  EXPECT_EQ(out.history.epochs.size(), 6u);
  EXPECT_EQ(out.weight, 4) << "the mean of epochs 2 to 6";
}

}  // namespace
}  // namespace tightloop::train
