// SPDX-License-Identifier: Apache-2.0
// Loss scaling inside runs: what a skipped update leaves alone, and what scaling saves.
#include <tests/support/files.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/callbacks/checkpoint.h>
#include <tightloop/train/callbacks/ema.h>
#include <tightloop/train/callbacks/run_monitor.h>
#include <tightloop/train/gradients_at.h>
#include <tightloop/train/trainer.h>

#include <algorithm>
#include <cmath>

namespace tightloop::train {
namespace {

using optim::LossScale;
using testing::TempDir;

/// y = w·x + b + √(m·w²): a row with m = 0 has a finite loss and a gradient of w that is NaN.
struct Edge : nn::Module {
  Parameter w{{1}}, b{{1}};
  void fields(nn::Fields& f) override { f("w", w)("b", b); }
  Tensor operator()(const Tensor& x, const Tensor& m) { return x * w + b + sqrt(m * square(w)); }
};

constexpr std::int64_t kRows = 14, kBatch = 4;

double x_of(std::int64_t i) { return 0.25 * static_cast<double>(i % 5) - 0.3; }
double y_of(std::int64_t i) { return 0.7 * x_of(i) - 0.4 + 0.05 * static_cast<double>(i % 3); }

/// Rows listed in `bad` have m = 0.
data::Dataset rows(const std::vector<std::int64_t>& bad) {
  Array x(DType::f32, {kRows, 1}), m(DType::f32, {kRows, 1}), y(DType::f32, {kRows, 1});
  for (std::int64_t i = 0; i < kRows; ++i) {
    x.set(i, x_of(i)), y.set(i, y_of(i));
    m.set(i, std::find(bad.begin(), bad.end(), i) == bad.end() ? 1 : 0);
  }
  return data::Dataset({{"x", x}, {"m", m}, {"y", y}});
}

LossScale quick() {
  LossScale out = LossScale::dynamic();
  out.init = 1024;
  out.growth_interval = 3;
  return out;
}

constexpr double kLr = 0.05, kDecay = 0.9, kNorm = 0.5;

TrainerOptions options(std::int64_t epochs, std::int64_t accumulate, Backend backend) {
  TrainerOptions o;
  o.epochs = epochs;
  o.batch = kBatch;
  o.shuffle = false;
  o.compile.backend = backend;
  o.update.accumulate = accumulate;
  o.update.loss_scale = quick();
  o.update.gradients = {.clip_norm = kNorm};
  o.update.schedule = optim::make_schedule("linear", {{"start_factor", 0.5}});
  o.update.per_step = true;
  o.callbacks = {std::make_shared<Ema>(EmaOptions{.decay = kDecay, .evaluate = false}),
                 std::make_shared<RunMonitor>(RunMonitorOptions{false, false, true})};
  return o;
}

/// The run in plain doubles: windows of batches, overflow, clipping, Adam, EMA, schedule, scale.
struct Plain {
  double p[2], m[2] = {}, v[2] = {}, average[2], sum[2] = {}, weight = 0;
  double scale = 1024, norms = 0;
  std::int64_t good = 0, applied = 0, skipped = 0;
  bool bad = false;

  void add(std::int64_t from, std::int64_t to, const std::vector<std::int64_t>& lost) {
    for (std::int64_t i = from; i < to; ++i) {
      const double error = p[0] * x_of(i) + p[1] + std::fabs(p[0]) - y_of(i);
      bad = bad || std::find(lost.begin(), lost.end(), i) != lost.end();
      sum[0] += 2 * error * (x_of(i) + (p[0] < 0 ? -1 : 1));
      sum[1] += 2 * error;
      weight += 1;
    }
  }

  void update(double total) {
    if (bad) {
      ++skipped, good = 0, scale /= 2;
    } else {
      if (++good == 3) good = 0, scale *= 2;
      ++applied;
      const double g[2] = {sum[0] / weight, sum[1] / weight};
      const double norm = std::sqrt(g[0] * g[0] + g[1] * g[1]), factor = std::min(1.0, kNorm / (norm + 1e-6));
      norms += norm;
      const double share = static_cast<double>(applied - 1) / total, t = static_cast<double>(applied);
      const double lr = kLr * (0.5 + 0.5 * std::min(1.0, share));
      for (int k = 0; k < 2; ++k) {
        m[k] = 0.9 * m[k] + 0.1 * factor * g[k];
        v[k] = 0.999 * v[k] + 0.001 * factor * g[k] * factor * g[k];
        const double root = std::sqrt(v[k] / (1 - std::pow(0.999, t)));
        p[k] -= lr * m[k] / (1 - std::pow(0.9, t)) / (root + 1e-8);
        average[k] = kDecay * average[k] + (1 - kDecay) * p[k];
      }
    }
    sum[0] = sum[1] = weight = 0;
    bad = false;
  }
};

class Together : public ::testing::TestWithParam<std::tuple<Backend, std::int64_t>> {};

/// The reference and the run agree with batches 4 + 4 + 4 + 2 of an epoch, row 5 in the second.
TEST_P(Together, AccumulationClippingScheduleAveragesAndSkippedUpdates) {
  const auto [backend, accumulate] = GetParam();
  const std::vector<std::int64_t> bad{5};
  Edge net;
  net.w.assign(Array::of<float>({1}, {{0.8f}}));
  net.b.assign(Array::of<float>({1}, {{0.1f}}));
  const std::int64_t epochs = 6, windows = (4 + accumulate - 1) / accumulate;
  Plain plain{.p = {0.8f, 0.1f}, .average = {0.8f, 0.1f}};
  struct Averages : Callback {
    std::string_view name() const override { return "averages"; }
    void end(train::Run& run) override {
      w = run.session().program().state("ema.w").at(0), b = run.session().program().state("ema.b").at(0);
    }
    double w = 0, b = 0;
  };
  const auto averages = std::make_shared<Averages>();
  TrainerOptions o = options(epochs, accumulate, backend);
  o.callbacks.push_back(averages);
  const History h = Trainer(o).fit(net, nn::make_loss("mse"), optim::Adam({.lr = kLr}), rows(bad));
  for (std::int64_t e = 0; e < epochs; ++e) {
    const auto before = plain;
    for (std::int64_t step = 0; step < 4; ++step) {
      plain.add(step * kBatch, std::min((step + 1) * kBatch, kRows), bad);
      if ((step + 1) % accumulate == 0 || step == 3) plain.update(static_cast<double>(epochs * windows));
    }
    const auto& extra = h.epochs[static_cast<std::size_t>(e)].extra;
    const auto value = [&](const char* name) {
      const auto found =
          std::find_if(extra.begin(), extra.end(), [&](const auto& x) { return x.first == name; });
      return found == extra.end() ? NAN : found->second;
    };
    EXPECT_EQ(value("loss_scale"), plain.scale) << e;
    EXPECT_EQ(value("skipped_updates"), static_cast<double>(plain.skipped - before.skipped)) << e;
    EXPECT_NEAR(value("gradient_norm"),
                (plain.norms - before.norms) / static_cast<double>(plain.applied - before.applied), 2e-5)
        << e;
  }
  EXPECT_GT(plain.skipped, 0);
  EXPECT_NEAR(net.w.array().at(0), plain.p[0], 2e-5);
  EXPECT_NEAR(net.b.array().at(0), plain.p[1], 2e-5);
  EXPECT_NEAR(averages->w, plain.average[0], 2e-5);
  EXPECT_NEAR(averages->b, plain.average[1], 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Runs, Together,
                         ::testing::Combine(::testing::Values(Backend::reference, Backend::cpu),
                                            ::testing::Values(1, 2, 3)));

TEST(LossScaling, ResumesBitForBitAtEveryStep) {
  const TempDir folder, cache;
  const auto fit = [&](TrainerOptions o) {
    o.compile.cache_directory = cache.path();
    Edge net;
    net.w.assign(Array::of<float>({1}, {{0.8f}}));
    net.b.assign(Array::of<float>({1}, {{0.1f}}));
    History h = Trainer(o).fit(net, nn::make_loss("mse"), optim::Adam({.lr = kLr}), rows({5, 12}));
    return std::tuple(net.w.array().at(0), net.b.array().at(0), h.epochs.back().extra, h.epochs.back().lr);
  };
  TrainerOptions first = options(4, 2, Backend::cpu);
  first.callbacks.push_back(std::make_shared<CheckpointFiles>(
      CheckpointOptions{.directory = folder.path(), .every_steps = 1, .keep = 0}));
  const auto whole = fit(first);
  for (std::int64_t step = 1; step < 16; ++step) {
    TrainerOptions o = options(4, 2, Backend::cpu);
    o.resume = folder / checkpoint_name(step);
    EXPECT_EQ(fit(o), whole) << step;
  }
}

/// A parameter that joins after skipped updates counts its own from 1.
TEST(LossScaling, ALateParameterCountsItsOwnUpdates) {
  Edge net;
  net.w.assign(Array::of<float>({1}, {{0.8f}}));
  net.b.assign(Array::of<float>({1}, {{0.1f}}));
  struct Watch : Callback {
    std::string_view name() const override { return "watch"; }
    std::int64_t pause_after(std::int64_t step) const override { return step + 1; }
    void step(train::Run& run) override { b.push_back(run.session().program().state("b").at(0)); }
    std::vector<double> b;
  };
  const auto watch = std::make_shared<Watch>();
  TrainerOptions o = options(2, 1, Backend::reference);
  o.update.schedule = nullptr;
  o.callbacks = {watch};
  net.b.freeze();
  o.unfreeze = {{.at = 2, .match = {"b"}}};
  Trainer(o).fit(net, nn::make_loss("mse"), optim::Adam({.lr = kLr}), rows({1, 5, 9}));
  ASSERT_EQ(watch->b.size(), 8u);
  EXPECT_EQ(watch->b[3], 0.1f);
  EXPECT_EQ(watch->b[6], 0.1f) << "three batches of the second epoch are skipped too";
  EXPECT_NEAR(std::fabs(watch->b[7] - 0.1f), kLr, 1e-4) << "Adam's first update is as long as the rate";
}

struct Notes : Observer {
  void note(const std::string& text) override { notes.push_back(text); }
  std::vector<std::string> notes;
};

TEST(LossScaling, SaysHowManyUpdatesWereSkipped) {
  Edge net;
  net.w.assign(Array::of<float>({1}, {{0.8f}}));
  net.b.assign(Array::of<float>({1}, {{0.1f}}));
  Notes notes;
  TrainerOptions o = options(1, 1, Backend::reference);
  o.observer = &notes;
  Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = 0.01}), rows({5, 9}));
  ASSERT_EQ(notes.notes.size(), 1u);
  EXPECT_EQ(notes.notes[0],
            "loss scale: 2 updates with gradients that are not finite were skipped; it ended at 256");
}

TEST(LossScaling, EndsAtTheMinimumNamingTheOp) {
  for (const Backend backend : {Backend::reference, Backend::cpu})
    for (const std::int64_t accumulate : {1, 3}) {
      Edge net;
      net.w.assign(Array::of<float>({1}, {{0.8f}}));
      net.b.assign(Array::of<float>({1}, {{0.1f}}));
      TrainerOptions o = options(40, accumulate, backend);
      EXPECT_ERROR(Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = 0.01}), rows({1, 5, 9, 13})),
                   "although the loss scale has fallen to its minimum 1; it began in step");
      EXPECT_TRUE(std::isfinite(net.w.array().at(0)));
      EXPECT_EQ(net.w.array().at(0), 0.8f) << "no update went well";
      o.update.loss_scale = LossScale::fixed(8);
      EXPECT_ERROR(
          Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = 0.01}), rows({1, 5, 9, 13})),
          "50 updates in a row had gradients that are not finite at the fixed loss scale 8; it began");
      EXPECT_ERROR(Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = 0.01}), rows({1, 5, 9, 13})),
                   "with op ");
    }
}

TEST(LossScaling, ALossThatIsNotFiniteIsStillAnError) {
  Edge net;
  net.w.assign(Array::of<float>({1}, {{0.8f}}));
  net.b.assign(Array::of<float>({1}, {{0.1f}}));
  data::Dataset data = rows({});
  Array y = data["y"];
  y.set(6, NAN);
  EXPECT_ERROR(Trainer(options(2, 2, Backend::cpu)).fit(net, nn::make_loss("mse"), optim::Sgd(), data),
               "step 1: the loss is not finite; it began in step 1 with nan in the data of 'y', row 7");
}

TEST(LossScaling, LbfgsTakesNone) {
  Edge net;
  net.initialize(1);
  TrainerOptions o;
  o.update.loss_scale = LossScale::dynamic();
  EXPECT_ERROR(Trainer(o).fit(net, nn::make_loss("mse"), optim::Lbfgs(), rows({})), "takes no loss scale");
}

/// y = 1e-8 · half(w · x): the gradient that reaches the half is 1e-8.
struct Faint : nn::Module {
  Parameter w{{1}};
  void fields(nn::Fields& f) override { f("w", w); }
  Tensor operator()(const Tensor& x) { return cast(cast(x * w, DType::f16), DType::f32) * 1e-8; }
};

TEST(LossScaling, SavesWhatF16TakesToZero) {
  Array x(DType::f32, {4, 1}), y(DType::f32, {4, 1});
  for (std::int64_t i = 0; i < 4; ++i) x.set(i, 1), y.set(i, -1);
  const data::Dataset data({{"x", x}, {"y", y}});
  const auto moved = [&](LossScale scale, Backend backend) {
    Faint net;
    net.w.assign(Array::of<float>({1}, {{1.0f}}));
    TrainerOptions o;
    o.epochs = 1;
    o.batch = 4;
    o.compile.backend = backend;
    o.update.loss_scale = scale;
    // L1's slope is 1, of the mean's rows 1/4 each: 2.5e-9 at the half of a row.
    Trainer(o).fit(net, nn::make_loss("l1"), optim::Sgd({.lr = 1e7}), data);
    return 1 - net.w.array().at(0);
  };
  for (const Backend backend : {Backend::reference, Backend::cpu}) {
    EXPECT_EQ(moved(LossScale::none(), backend), 0);
    EXPECT_NEAR(moved(LossScale::dynamic(), backend), 0.1, 1e-4);
    EXPECT_NEAR(moved(LossScale::fixed(65536), backend), 0.1, 1e-4);
  }
}

/// Of y = 1e-8 · half(w · x) all gradients are lost; with slopes a million times larger none is.
TEST(Underflow, IsMeasured) {
  Array x(DType::f32, {4, 1}), y(DType::f32, {4, 1});
  for (std::int64_t i = 0; i < 4; ++i) x.set(i, i < 2 ? 1 : 1e6), y.set(i, -1);
  const data::Dataset data({{"x", x}, {"y", y}});
  struct Plain : nn::Module {
    Parameter w{{1}};
    void fields(nn::Fields& f) override { f("w", w); }
    Tensor operator()(const Tensor& x) { return x * w * 1e-8; }
  } net;
  net.initialize(1);
  const Model model = model_of(net);
  const nn::LossFn loss = nn::make_loss("l1");
  const optim::Sgd rule;
  const DataPart part{data};
  const DataSpec spec = DataSpec::of(data);
  Session session(model, loss, rule, spec, part, {.batch = 2, .shuffle = false});
  GradientProbe probe(model, loss, spec, session, {}, 0);
  EXPECT_EQ(measure_underflow(probe, session, 1).share(), 1);
  const Underflow both = measure_underflow(probe, session);
  EXPECT_EQ(both.elements, 2);
  EXPECT_EQ(both.lost, 1);
  EXPECT_EQ(both.warning(),
            "50 % of the gradients' elements are below what f16 can hold and would become 0: scale the loss "
            "(train.loss_scale = \"dynamic\")");
  Underflow fine;
  fine.add(Array::of<double>({5}, {{0, 0x1p-24, -0x1.0000000000001p-25, 1, -3}}));
  EXPECT_EQ(fine.elements, 4);
  EXPECT_EQ(fine.lost, 0) << "0 is no loss";
  EXPECT_EQ(fine.warning(), "");
  fine.add(Array::of<double>({2}, {{-0x1p-25, 1e-30}}));
  EXPECT_EQ(fine.lost, 2);
}

}  // namespace
}  // namespace tightloop::train
