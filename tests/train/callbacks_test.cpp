// SPDX-License-Identifier: Apache-2.0
// Callbacks fed with metrics, and inside runs.
#include <tests/support/files.h>
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/callbacks/early_stopping.h>
#include <tightloop/train/callbacks/ema.h>
#include <tightloop/train/callbacks/index.h>
#include <tightloop/train/callbacks/max_time.h>
#include <tightloop/train/callbacks/nan_guard.h>
#include <tightloop/train/callbacks/stop_at.h>
#include <tightloop/train/run.h>

#include <cmath>

namespace tightloop::train {
namespace {

/// y = w
struct One : nn::Module {
  Parameter w{{1}};
  void fields(nn::Fields& f) override { f("w", w); }
  Tensor operator()(const Tensor& x) { return x * 0.0 + w; }
};

data::Dataset rows(std::int64_t n, double target) {
  Array x(DType::f32, {n, 1}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < n; ++i) y.set(i, target);
  return data::Dataset({{"x", x}, {"y", y}});
}

TrainerOptions plain(std::int64_t epochs, std::int64_t batch = 4) {
  TrainerOptions o;
  o.epochs = epochs;
  o.batch = batch;
  o.shuffle = false;
  o.compile.backend = Backend::reference;
  return o;
}

/// A run whose epochs are told from outside; in epoch e the weight is e.
struct Told {
  One net;
  data::Dataset data = rows(8, 1);
  TrainingData training{.train = DataPart{data}};
  Model model = model_of(net);
  nn::LossFn loss = nn::make_loss("mse");
  optim::Sgd rule{{.lr = 0.1}};
  TrainerOptions options = plain(100);
  Session session;
  Run run;

  Told()
      : session((net.initialize(1), model), loss, rule, DataSpec::of(data), training.train, {.batch = 4}),
        run(model, options, session, 0.1, RunFacts{.validates = true}, training) {}

  /// The number of epochs until the callback ends the run.
  std::size_t feed(Callback& callback, const std::vector<double>& losses) {
    callback.start(run);
    for (std::size_t e = 0; e < losses.size() && !run.stopping(); ++e) {
      run.set_epoch(static_cast<std::int64_t>(e) + 1);
      session.program().state("w").set(0, static_cast<double>(e + 1));
      EpochRecord record{static_cast<std::int64_t>(e) + 1, 0, 1.0, Evaluation{losses[e], {}}, 0, 0, 0};
      callback.epoch(run, record);
    }
    const auto epochs = static_cast<std::size_t>(run.epoch());
    callback.weights(run);
    return epochs;
  }
  double weight() { return session.program().state("w").at(0); }
};

const double kNaN = std::nan("");

TEST(EarlyStopping, EndsAfterPatienceWithTheBestWeights) {
  Told told;
  EarlyStopping stopping({.patience = 2});
  EXPECT_EQ(told.feed(stopping, {270.59, 113.69, 58.80, 45.06, 36.83, 33.2164, 38.88, 48.58, 1}), 8u);
  EXPECT_EQ(stopping.best_epoch(), 6);
  EXPECT_EQ(told.weight(), 6);
  EXPECT_EQ(told.run.history().reason, "validation_loss has not improved for 2 evaluated epochs");
}

TEST(EarlyStopping, RestoresTheBestWhenTheEpochsEndFirst) {
  Told told;
  EarlyStopping stopping({.patience = 2});
  EXPECT_EQ(told.feed(stopping, {3, 2, 2.5}), 3u);
  EXPECT_FALSE(told.run.stopping());
  EXPECT_EQ(told.weight(), 2);
}

TEST(EarlyStopping, NaNIsNoImprovement) {
  Told told;
  EarlyStopping stopping({.patience = 3});
  EXPECT_EQ(told.feed(stopping, {1.0, kNaN, .9, kNaN, kNaN, kNaN, .1}), 6u);
  EXPECT_EQ(stopping.best(), .9);
}

TEST(EarlyStopping, AnImprovementIsMoreThanMinDelta) {
  Told told;
  EarlyStopping stopping({.patience = 2, .min_delta = .01});
  EXPECT_EQ(told.feed(stopping, {1.0, .9995, .999, .9985}), 3u);
}

TEST(EarlyStopping, CountersSurviveAResume) {
  Told first, second;
  EarlyStopping a({.patience = 3}), b({.patience = 3});
  first.feed(a, {2, 1, 1.5, 1.6});
  b.start(second.run);
  b.load(second.run, a.save());
  EpochRecord record{5, 0, 1.0, Evaluation{1.7, {}}, 0, 0, 0};
  b.epoch(second.run, record);
  EXPECT_TRUE(second.run.stopping()) << "the third epoch without an improvement";
  b.weights(second.run);
  EXPECT_EQ(second.weight(), 2);
}

TEST(EarlyStopping, RefusesWhatItCannotWatch) {
  Told told;
  EarlyStopping stopping({.monitor = "validation_los"});
  EXPECT_ERROR(
      stopping.start(told.run),
      "early_stopping: there is no metric 'validation_los' to watch (did you mean 'validation_loss'?)");
  EXPECT_ERROR(EarlyStopping({.patience = 0}), "patience must be at least 1");
  One net;
  TrainerOptions o = plain(2);
  o.callbacks = {std::make_shared<EarlyStopping>(EarlyStoppingOptions{.monitor = "validation_loss"})};
  EXPECT_ERROR(Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd(), rows(4, 1)),
               "there are no validation rows");
}

TEST(StopAt, EndsWhenReached) {
  Told told;
  StopAt stop({.value = .5});
  EXPECT_EQ(told.feed(stop, {1, kNaN, .6, .5, .1}), 4u);
}

TEST(MaxTime, ReadsTimes) {
  EXPECT_EQ(parse_seconds("90"), 90);
  EXPECT_EQ(parse_seconds("1h30m"), 5400);
  EXPECT_EQ(parse_seconds("0.5m"), 30);
  EXPECT_EQ(parse_seconds("01:30:00"), 5400);
  EXPECT_EQ(parse_seconds("1:00:00:00"), 86400);
  EXPECT_EQ(parse_seconds("02:00"), 120);
  for (const char* text : {"", "h", "1x", "1h30", "-5", "1:", ":", "1:2:3:4:5", "nan", "1h-2m"})
    EXPECT_ERROR(parse_seconds(text), "is no time");
  EXPECT_ERROR(MaxTime(0), "more than 0 seconds");
}

TEST(MaxTime, EndsARun) {
  One net;
  TrainerOptions o = plain(1000000000);
  o.callbacks = {std::make_shared<MaxTime>(0.05)};
  const History h = Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd(), rows(4, 1));
  EXPECT_LT(h.epochs.size(), 1000000000u);
  EXPECT_FALSE(h.stopped);
  EXPECT_NE(h.reason.find("seconds have passed"), std::string::npos);
}

/// From w = 0, Sgd of rate 1 over l1 brings w by +1 a step to its target and there it would go back and
/// forth; with a rate of 0.5 for mse it is there after one step and stays.
TEST(Ema, FollowsTheWeightsOnceAStep) {
  for (const Backend backend : {Backend::reference, Backend::cpu}) {
    One net;
    net.w.assign(Array(DType::f32, {1}));
    TrainerOptions o = plain(3, 4);
    o.compile.backend = backend;
    o.callbacks = {std::make_shared<Ema>(EmaOptions{.decay = .9})};
    const History h =
        Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .5}), rows(4, 1), rows(4, 1));
    const double wanted[] = {.1, .19, .271};
    for (std::size_t e = 0; e < 3; ++e)
      EXPECT_NEAR(h.epochs[e].validation->loss, (1 - wanted[e]) * (1 - wanted[e]), 1e-6);
    EXPECT_NEAR(net.w.array().at(0), .271, 1e-6) << "the model ends with the averages";
    One raw;
    raw.w.assign(Array(DType::f32, {1}));
    o.callbacks = {std::make_shared<Ema>(EmaOptions{.decay = .9, .evaluate = false})};
    Trainer(o).fit(raw, nn::make_loss("mse"), optim::Sgd({.lr = .5}), rows(4, 1));
    EXPECT_EQ(raw.w.array().at(0), 1);
  }
}

struct Normed : nn::Module {
  nn::BatchNorm1d norm{2};
  void fields(nn::Fields& f) override { f("norm", norm); }
  Tensor operator()(const Tensor& x) { return norm(x); }
};

TEST(Ema, BuffersGoAlongAndCountersAreCounted) {
  Array x(DType::f32, {8, 2}), y(DType::f32, {8, 2});
  for (std::int64_t i = 0; i < 16; ++i) x.set(i, 3 + static_cast<double>(i % 5));
  const data::Dataset data({{"x", x}, {"y", y}});
  Normed plainly, averaged;
  TrainerOptions o = plain(2, 4);
  Trainer(o).fit(plainly, nn::make_loss("mse"), optim::Sgd({.lr = .1}), data);
  o.callbacks = {std::make_shared<Ema>(EmaOptions{.decay = .5})};
  Trainer(o).fit(averaged, nn::make_loss("mse"), optim::Sgd({.lr = .1}), data);
  EXPECT_EQ(averaged.buffer("norm.num_batches_tracked").array().int_at(0), 4);
  const double raw = plainly.buffer("norm.running_mean").array().at(0);
  const double mean = averaged.buffer("norm.running_mean").array().at(0);
  EXPECT_LT(mean, raw);
  EXPECT_GT(mean, 0);
}

/// The loss is lost at a rate of 8 and found at one of 0.5.
TEST(NanGuard, GoesBackWithASmallerRate) {
  struct Notes : Observer {
    std::vector<std::string> texts;
    void note(const std::string& text) override { texts.push_back(text); }
  } notes;
  One net;
  TrainerOptions o = plain(60, 4);
  o.observer = &notes;
  o.callbacks = {std::make_shared<NanGuard>(NanGuardOptions{.factor = .0625})};
  const History h = Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = 8}), rows(400, 1));
  ASSERT_EQ(notes.texts.size(), 1u);
  EXPECT_NE(notes.texts[0].find("back to the weights of step"), std::string::npos) << notes.texts[0];
  EXPECT_EQ(h.epochs.size(), 60u);
  EXPECT_NEAR(net.w.array().at(0), 1, 1e-5);
  EXPECT_EQ(h.epochs.back().lr, .5);
  One lost;
  o.callbacks = {std::make_shared<NanGuard>(NanGuardOptions{.factor = .99, .max_rollbacks = 2})};
  EXPECT_THROW(Trainer(o).fit(lost, nn::make_loss("mse"), optim::Sgd({.lr = 8}), rows(400, 1)), NonFinite);
}

/// 14 batches of 4 rows with target 1, but `odd` in the rows of batch 11 (from 0).
data::Dataset with_odd(double odd, bool without = false) {
  const std::int64_t batches = without ? 13 : 14;
  Array x(DType::f32, {4 * batches, 1}), y(DType::f32, {4 * batches, 1});
  for (std::int64_t i = 0; i < 4 * batches; ++i) y.set(i, i / 4 == 11 && !without ? odd : 1);
  return data::Dataset({{"x", x}, {"y", y}});
}

/// What jumps or is lost is left out: the weights are those of data without it.
TEST(NanGuard, LeavesOutTheBatchThatLostTheLoss) {
  const auto fit = [](Backend backend, const data::Dataset& data, NanGuardOptions guard,
                      std::int64_t epochs) {
    One net;
    net.w.assign(Array(DType::f32, {1}));
    TrainerOptions o = plain(epochs, 4);
    o.compile.backend = backend;
    o.callbacks = {std::make_shared<NanGuard>(guard)};
    Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .001, .momentum = .5}), data);
    return net.w.array().at(0);
  };
  for (const Backend backend : {Backend::reference, Backend::cpu}) {
    const double clean = fit(backend, with_odd(0, true), {}, 2);
    for (const double odd : {100.0, kNaN, double(INFINITY)}) {
      const NanGuardOptions guard{.factor = 1, .skip = true, .every_steps = 1, .spike = {.factor = 5}};
      EXPECT_EQ(fit(backend, with_odd(odd), guard, 2), clean) << odd;
      NanGuardOptions stop = guard;
      stop.stop = true;
      EXPECT_THROW(fit(backend, with_odd(odd), stop, 2), NonFinite);
      EXPECT_THROW(fit(backend, with_odd(odd), guard, 4), NonFinite) << "a fourth time is too often";
    }
    EXPECT_NE(fit(backend, with_odd(100), {}, 2), clean);
    EXPECT_NEAR(fit(backend, with_odd(2), {.factor = 1, .skip = true, .spike = {.factor = 5}}, 2),
                fit(backend, with_odd(2), {}, 2), 0)
        << "a loss that is a little higher is no spike";
  }
}

/// Without every_steps the epoch's updates before the odd batch are lost too.
TEST(NanGuard, GoesBackToTheStartOfTheEpoch) {
  One net, rest;
  net.w.assign(Array(DType::f32, {1}));
  rest.w.assign(Array(DType::f32, {1}));
  TrainerOptions o = plain(1, 4);
  o.callbacks = {std::make_shared<NanGuard>(NanGuardOptions{.factor = 1, .skip = true})};
  Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .01}), with_odd(kNaN));
  o.callbacks.clear();
  Trainer(o).fit(rest, nn::make_loss("mse"), optim::Sgd({.lr = .01}), rows(8, 1));
  EXPECT_EQ(net.w.array().at(0), rest.w.array().at(0)) << "two batches come after it";
}

TEST(NanGuard, RefusesWhatCannotBe) {
  EXPECT_ERROR(NanGuard({.factor = 0}), "factor must be above 0");
  EXPECT_ERROR(NanGuard({.factor = 1}), "does the same again");
  EXPECT_ERROR(NanGuard({.max_rollbacks = 0}), "max_rollbacks");
  EXPECT_ERROR(NanGuard({.every_steps = -1}), "every_steps");
  EXPECT_ERROR(make_callback("nan_guard", {{"action", std::string("halt")}}), "'rollback' or 'stop'");
  EXPECT_ERROR(NanGuard({.spike = {.factor = -1}}), "nan_guard: spike must be 0 or greater");
}

TEST(Rate, FollowsItsScheduleByEpochsAndBySteps) {
  for (const bool per_step : {false, true}) {
    One net;
    TrainerOptions o = plain(4, 2);
    o.update.schedule = optim::make_schedule("linear", {{"start_factor", 0.0}});
    o.update.per_step = per_step;
    const History h = Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .8}), rows(8, 1));
    for (std::size_t e = 0; e < 4; ++e)
      EXPECT_NEAR(h.epochs[e].lr,
                  per_step ? .8 * (4 * static_cast<double>(e) + 3) / 16 : .2 * static_cast<double>(e), 1e-12);
  }
}

TEST(Rate, GroupsFollowInProportion) {
  struct Two : nn::Module {
    Parameter a{{1}}, b{{1}};
    void fields(nn::Fields& f) override { f("a", a)("b", b); }
    Tensor operator()(const Tensor& x) { return x * 0.0 + a + b; }
  } net;
  TrainerOptions o = plain(2, 4);
  o.update.schedule = optim::make_schedule("step", {{"step_size", std::int64_t{1}}});
  Trainer(o).fit(net, nn::make_loss("l1"),
                 optim::with_groups(optim::Sgd({.lr = .1}), {{.pattern = "b", .lr = .02}}), rows(4, 9));
  EXPECT_NEAR(net.a.array().at(0), .11, 1e-6);
  EXPECT_NEAR(net.b.array().at(0), .022, 1e-6);
}

TEST(Gradients, AreClippedByNormAndValue) {
  for (const Backend backend : {Backend::reference, Backend::cpu})
    for (const double target : {1e3, 1e20}) {
      One net;
      TrainerOptions o = plain(1, 4);
      o.compile.backend = backend;
      o.update.gradients = {.clip_norm = .25};
      Trainer(o).fit(net, nn::make_loss("l1", {{"reduction", std::string("sum")}}), optim::Sgd({.lr = 1}),
                     rows(4, target));
      EXPECT_NEAR(net.w.array().at(0), .25, 1e-6);
      One by_value;
      o.update.gradients = {.clip_value = .5};
      Trainer(o).fit(by_value, nn::make_loss("l1"), optim::Sgd({.lr = 1}), rows(4, target));
      EXPECT_NEAR(by_value.w.array().at(0), .5, 1e-6);
    }
}

struct Line : nn::Module {
  nn::Linear lin{1, 1};
  void fields(nn::Fields& f) override { f("lin", lin); }
  Tensor operator()(const Tensor& x) { return lin(x); }
};

/// 14 rows in batches of 4 (4 + 4 + 4 + 2) with 2 a step make the updates of batches of 8 (8 + 6).
TEST(Accumulation, EqualsTheLargeBatch) {
  Array x(DType::f32, {14, 1}), y(DType::f32, {14, 1});
  for (std::int64_t i = 0; i < 14; ++i) x.set(i, 0.1 * static_cast<double>(i % 5)), y.set(i, 1.0 + x.at(i));
  const data::Dataset data({{"x", x}, {"y", y}});
  for (const Backend backend : {Backend::reference, Backend::cpu}) {
    std::vector<std::vector<double>> ends;
    for (const std::int64_t accumulate : {1, 2, 8}) {
      Line net;
      net.initialize(1);
      TrainerOptions o = plain(3, accumulate == 1 ? 8 : 4);
      if (accumulate == 8) o.batch = 14, o.update.accumulate = 1;
      o.compile.backend = backend;
      if (accumulate == 2) o.update.accumulate = 2;
      o.update.schedule = optim::make_schedule("linear", {{"start_factor", 0.1}});
      o.update.per_step = true;
      o.update.gradients = {.clip_norm = 1};
      o.callbacks = {std::make_shared<Ema>(EmaOptions{.decay = .5})};
      const History h = Trainer(o).fit(net, nn::make_loss("mse"), optim::Adam({.lr = .1}), data);
      ends.push_back({net.lin.weight.array().at(0), net.lin.bias->array().at(0), h.epochs.back().lr});
    }
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(ends[0][i], ends[1][i], 1e-6) << i;
    EXPECT_GT(std::abs(ends[0][0] - ends[2][0]), 1e-4) << "other batches give something else";
  }
}

TEST(Accumulation, CountsUpdates) {
  const RunLength length{5, 23};
  EXPECT_EQ(length.updates(2).epoch, 3);
  EXPECT_EQ(length.updates(2).run, 14);
  const std::int64_t updates[] = {0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 6};
  const bool ends[] = {false, true, false, true, true, false, true, false, true, true, false};
  for (std::int64_t step = 0; step < 11; ++step) {
    const UpdateCount c = count_updates(scalar(static_cast<double>(step), DType::i64), length, 2);
    EXPECT_EQ(c.update.array().int_at(0), updates[step]) << step;
    EXPECT_EQ(c.ends.array().at(0) != 0, ends[step]) << step;
  }
}

TEST(Callbacks, TheIndexBuildsEachOfThem) {
  for (const CallbackDef* def : all_callbacks()) {
    Options given;
    if (def->name == "stop_at") given.set("value", 1.0);
    if (def->name == "swa") given.set("lr", 0.1);
    if (def->name == "max_time") given.set("time", std::string("1m"));
    EXPECT_EQ(make_callback(def->name, given)->name(), def->name);
  }
  EXPECT_ERROR(make_callback("early_stoping"), "did you mean 'early_stopping'?");
}

TEST(Lbfgs, TakesNoneOfThem) {
  One net;
  TrainerOptions o = plain(2);
  o.callbacks = {std::make_shared<Ema>()};
  EXPECT_ERROR(Trainer(o).fit(net, nn::make_loss("mse"), optim::Lbfgs(), rows(4, 1)), "takes no callbacks");
}

}  // namespace
}  // namespace tightloop::train
