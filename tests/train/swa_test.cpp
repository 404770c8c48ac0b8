// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/callbacks/early_stopping.h>
#include <tightloop/train/callbacks/ema.h>
#include <tightloop/train/callbacks/run_monitor.h>
#include <tightloop/train/callbacks/swa.h>
#include <tightloop/train/run.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::train {
namespace {

/// y = w
struct One : nn::Module {
  Parameter w{{1}};
  void fields(nn::Fields& f) override { f("w", w); }
  Tensor operator()(const Tensor& x) { return x * 0.0 + w; }
};

data::Dataset constant(std::int64_t n, double target) {
  Array x(DType::f32, {n, 1}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < n; ++i) y.set(i, target);
  return data::Dataset({{"x", x}, {"y", y}});
}

TrainerOptions plain(std::int64_t epochs, Backend backend) {
  TrainerOptions o;
  o.epochs = epochs;
  o.batch = 4;
  o.shuffle = false;
  o.compile.backend = backend;
  o.compile.disk_cache = false;
  return o;
}

struct SwaCase {
  SwaOptions options;
  std::vector<double> rates;  ///< of each epoch, as torch.optim.swa_utils.SWALR gives them
  std::int64_t first;         ///< the first epoch that is averaged, from 0
};

class SwaRuns : public ::testing::TestWithParam<Backend> {};

TEST_P(SwaRuns, RatesAndAveragesAreThoseOfPyTorch) {
  const SwaCase cases[] = {
      {{.lr = .02, .start = 3, .anneal_epochs = 3}, {.1, .1, .1, .08, .04, .02, .02, .02}, 2},
      {{.lr = .02, .start = 3, .anneal_epochs = 3, .linear = true},
       {.1, .1, .1, .07333333333, .04666666667, .02, .02, .02},
       2},
      {{.lr = .02, .start = .5, .anneal_epochs = 0}, {.1, .1, .1, .1, .02, .02, .02, .02}, 4},
      {{.lr = .02, .start = 1},
       {.1, .09804226065, .09236067977, .08351141009, .07236067977, .06, .04763932023, .03648858991},
       0}};
  for (const SwaCase& c : cases) {
    One net;
    TrainerOptions o = plain(8, GetParam());
    const auto swa = std::make_shared<Swa>(c.options);
    o.callbacks = {swa};
    const History h =
        Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .1}), constant(8, 1), constant(4, 1));
    double w = 0, average = 0;
    std::int64_t n = 0;
    for (std::size_t e = 0; e < 8; ++e) {
      EXPECT_NEAR(h.epochs[e].lr, c.rates[e], 1e-9) << "epoch " << e + 1;
      for (int step = 0; step < 2; ++step) w -= c.rates[e] * 2 * (w - 1);
      if (static_cast<std::int64_t>(e) >= c.first) average += (w - average) / static_cast<double>(++n);
      const double seen = n > 0 ? average : w;
      EXPECT_NEAR(h.epochs[e].validation->loss, (seen - 1) * (seen - 1), 1e-6) << "epoch " << e + 1;
    }
    EXPECT_NEAR(net.w.array().at(0), average, 1e-6);
    EXPECT_EQ(swa->averaged(), n);
  }
}

TEST_P(SwaRuns, WithoutEvaluationTheWeightsStay) {
  One net, bare;
  TrainerOptions o = plain(4, GetParam());
  o.callbacks = {std::make_shared<Swa>(SwaOptions{.lr = .1, .start = 2, .evaluate = false})};
  Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .1}), constant(8, 1));
  o.callbacks.clear();
  Trainer(o).fit(bare, nn::make_loss("mse"), optim::Sgd({.lr = .1}), constant(8, 1));
  EXPECT_EQ(net.w.array().at(0), bare.w.array().at(0));
}

struct Normed : nn::Module {
  nn::Linear in{2, 3};
  nn::BatchNorm1d norm{3};
  nn::Linear out{3, 1};
  void fields(nn::Fields& f) override { f("in", in)("norm", norm)("out", out); }
  Tensor operator()(const Tensor& x) { return out(relu(norm(in(x)))); }
};

data::Dataset rows(std::int64_t n, std::int64_t from = 0) {
  Array x(DType::f32, {n, 2}), y(DType::f32, {n, 1});
  for (std::int64_t i = 0; i < 2 * n; ++i) x.set(i, static_cast<double>((i + from) * 7919 % 101) / 50 - 1);
  for (std::int64_t i = 0; i < n; ++i) y.set(i, x.at(2 * i) * x.at(2 * i + 1));
  return data::Dataset({{"x", x}, {"y", y}});
}

/// The plain mean over batches of each batch's mean and unbiased variance of in(x).
TEST_P(SwaRuns, StatisticsOfBatchNormBelongToTheAverages) {
  Normed net;
  const data::Dataset train = rows(8);
  TrainerOptions o = plain(5, GetParam());
  o.callbacks = {std::make_shared<Swa>(SwaOptions{.lr = .05, .start = 3})};
  const History h = Trainer(o).fit(net, nn::make_loss("mse"), optim::Adam({.lr = .05}), train, rows(6, 99));
  for (std::int64_t c = 0; c < 3; ++c) {
    double mean = 0, variance = 0;
    for (std::int64_t b = 0; b < 2; ++b) {
      double sum = 0, squares = 0;
      for (std::int64_t i = 4 * b; i < 4 * b + 4; ++i) {
        const Array w = net.in.weight.array(), x = train["x"];
        const double v =
            w.at(2 * c) * x.at(2 * i) + w.at(2 * c + 1) * x.at(2 * i + 1) + net.in.bias->array().at(c);
        sum += v, squares += v * v;
      }
      mean += sum / 4 / 2;
      variance += (squares - sum * sum / 4) / 3 / 2;
    }
    EXPECT_NEAR(net.norm.running_mean->array().at(c), mean, 1e-5);
    EXPECT_NEAR(net.norm.running_var->array().at(c), variance, 1e-5);
  }
  EXPECT_EQ(net.norm.num_batches_tracked->array().int_at(0), 2);
  EXPECT_EQ(net.norm.momentum(), 0.1) << "as it was";
  const Evaluation e = Trainer(o).evaluate(net, nn::make_loss("mse"), rows(6, 99));
  EXPECT_NEAR(e.loss, h.epochs.back().validation->loss, 1e-7)
      << "the last epoch saw what the model ends with";
}

INSTANTIATE_TEST_SUITE_P(Backends, SwaRuns, ::testing::Values(Backend::reference, Backend::cpu),
                         [](const auto& info) { return info.param == Backend::cpu ? "cpu" : "reference"; });

struct Notes : Observer {
  void note(const std::string& text) override { notes.push_back(text); }
  std::vector<std::string> notes;
};

/// Training goes to 1, and the best epochs for the validation rows come early.
TEST(Swa, BesideEarlyStoppingTheModelEndsWithTheAverages) {
  for (const bool swa_first : {true, false}) {
    One net, alone;
    Notes notes;
    TrainerOptions o = plain(20, Backend::reference);
    o.observer = &notes;
    const auto swa = std::make_shared<Swa>(SwaOptions{.lr = .1, .start = 3});
    const auto stopping = std::make_shared<EarlyStopping>(EarlyStoppingOptions{.patience = 4});
    o.callbacks = {swa, stopping};
    if (!swa_first) std::swap(o.callbacks[0], o.callbacks[1]);
    const History h =
        Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .1}), constant(4, 1), constant(4, .2));
    EXPECT_NE(h.reason.find("has not improved for 4"), std::string::npos) << h.reason;
    ASSERT_LT(h.epochs.size(), 20u);
    EXPECT_LT(stopping->best_epoch(), 3);
    o.callbacks = {std::make_shared<Swa>(SwaOptions{.lr = .1, .start = 3})};
    o.epochs = static_cast<std::int64_t>(h.epochs.size());
    o.observer = nullptr;
    Trainer(o).fit(alone, nn::make_loss("mse"), optim::Sgd({.lr = .1}), constant(4, 1), constant(4, .2));
    EXPECT_EQ(net.w.array().at(0), alone.w.array().at(0));
    EXPECT_EQ(notes.notes, (std::vector<std::string>{
                               fmt::format("the weights are swa's average of {} epochs", swa->averaged())}));
  }
}

TEST(Swa, WithoutAnAverageTheBestEpochIsRestored) {
  One net;
  Notes notes;
  TrainerOptions o = plain(20, Backend::reference);
  o.observer = &notes;
  const auto stopping = std::make_shared<EarlyStopping>(EarlyStoppingOptions{.patience = 2});
  o.callbacks = {std::make_shared<Swa>(SwaOptions{.lr = .1, .start = 15}), stopping};
  const History h =
      Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .1}), constant(4, 1), constant(4, .2));
  ASSERT_LT(h.epochs.size(), 15u);
  EXPECT_NEAR((net.w.array().at(0) - .2) * (net.w.array().at(0) - .2), stopping->best(), 1e-6);
  ASSERT_EQ(notes.notes.size(), 2u);
  EXPECT_EQ(notes.notes[0], "swa: the run ended before the first epoch that it averages");
  EXPECT_NE(notes.notes[1].find("the weights are those of epoch "), std::string::npos);
}

TEST(Swa, RefusesWhatCannotBe) {
  EXPECT_ERROR(Swa({.lr = 0}), "lr must be greater than 0");
  EXPECT_ERROR(Swa({.lr = 1, .start = 2.5}), "start must be an epoch");
  EXPECT_ERROR(Swa({.lr = 1, .start = 0}), "start must be an epoch");
  EXPECT_ERROR(Swa({.lr = 1, .anneal_epochs = -1}), "anneal_epochs");
  One net;
  TrainerOptions o = plain(3, Backend::reference);
  const auto fit = [&] { Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd(), constant(4, 1)); };
  o.callbacks = {std::make_shared<Swa>(SwaOptions{.lr = .1, .start = 4})};
  EXPECT_ERROR(fit(), "swa: starts in epoch 4, but the run has 3");
  o.callbacks = {std::make_shared<Swa>(SwaOptions{.lr = .1}), std::make_shared<Ema>()};
  EXPECT_ERROR(fit(), "take one of them");
}

/// Gradient of (w - 1)² in w = 0, after 0.2, ...
TEST(RunMonitor, TellsNormsAndRates) {
  for (const Backend backend : {Backend::reference, Backend::cpu})
    for (const std::int64_t accumulate : {1, 2}) {
      struct Two : nn::Module {
        Parameter a{{1}}, b{{1}};
        void fields(nn::Fields& f) override { f("a", a)("b", b); }
        Tensor operator()(const Tensor& x) { return x * 0.0 + a + b; }
      } net;
      TrainerOptions o = plain(2, backend);
      o.update.accumulate = accumulate;
      o.update.gradients.clip_norm = 1e-6;
      o.callbacks = {std::make_shared<RunMonitor>()};
      const History h = Trainer(o).fit(
          net, nn::make_loss("mse"), optim::with_groups(optim::Sgd({.lr = .1}), {{.pattern = "b", .lr = .3}}),
          constant(16, 1));
      const double norm = 2 * std::sqrt(2.0);  // of (2, 2), whatever is clipped behind it
      for (const EpochRecord& e : h.epochs) {
        std::map<std::string, double> extra(e.extra.begin(), e.extra.end());
        EXPECT_NEAR(extra.at("gradient_norm"), norm, 1e-4);
        EXPECT_NEAR(extra.at("gradient_norm_max"), norm, 1e-4);
        EXPECT_EQ(extra.at("lr_b"), .3);
        EXPECT_GT(extra.at("steps_per_s"), 0);
      }
    }
}

}  // namespace
}  // namespace tightloop::train
