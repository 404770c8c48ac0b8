// SPDX-License-Identifier: Apache-2.0
// one_cycle moves momentum and beta1; the numbers are those of torch.optim 1.13 with OneCycleLR(o, 0.2,
// steps).
#include <tests/support/files.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/callbacks/run_monitor.h>
#include <tightloop/train/trainer.h>

namespace tightloop::train {
namespace {

/// y = w
struct One : nn::Module {
  Parameter w{{1}};
  void fields(nn::Fields& f) override { f("w", w); }
  Tensor operator()(const Tensor& x) { return x * 0.0 + w; }
};

data::Dataset one_row() {
  Array x(DType::f32, {1, 1}), y(DType::f32, {1, 1});
  y.set(0, 1);
  return data::Dataset({{"x", x}, {"y", y}});
}

/// 12 steps, an epoch each.
TrainerOptions cycle(Backend backend, std::int64_t steps, Options more = {}) {
  TrainerOptions o;
  o.epochs = steps;
  o.batch = 1;
  o.compile.backend = backend;
  o.compile.disk_cache = false;
  more.set("max_lr", 0.2);
  o.update.schedule = optim::make_schedule("one_cycle", more);
  o.update.per_step = true;
  return o;
}

class Momentum : public ::testing::TestWithParam<Backend> {
 protected:
  template <class Rule>
  static double weight_after(const Rule& rule, std::int64_t steps, Options more = {}) {
    One net;
    TrainerOptions o = cycle(GetParam(), 12, std::move(more));
    o.max_steps = steps;
    o.update.schedule =
        optim::make_schedule("one_cycle", {{"max_lr", 0.2}, {"total_steps", std::int64_t{12}}});
    Trainer(o).fit(net, nn::make_loss("mse"), rule, one_row());
    return net.w.array().at(0);
  }
  template <class Rule>
  static std::vector<double> momenta(const Rule& rule, std::int64_t steps, const Options& more = {}) {
    One net;
    TrainerOptions o = cycle(GetParam(), steps, more);
    o.callbacks = {std::make_shared<RunMonitor>()};
    std::vector<double> out;
    for (const EpochRecord& e : Trainer(o).fit(net, nn::make_loss("mse"), rule, one_row()).epochs)
      for (const auto& [name, value] : e.extra)
        if (name == "momentum") out.push_back(value);
    return out;
  }
};

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-9) << i;
}

TEST_P(Momentum, MovesAgainstTheRate) {
  expect_near(
      momenta(optim::Sgd({.lr = .1, .momentum = .9}), 10),
      {.95, .9, .85, .8549515566, .8688255099, .8888739533, .9111260467, .9311744901, .9450484434, .95});
  expect_near(momenta(optim::Adam({.lr = .1}), 12,
                      {{"three_phase", true},
                       {"anneal_strategy", std::string("linear")},
                       {"base_momentum", .8},
                       {"max_momentum", .9}}),
              {.9, .8615384615, .8230769231, .8153846154, .8538461538, .8923076923, .9, .9, .9, .9, .9, .9});
  EXPECT_TRUE(momenta(optim::Sgd({.lr = .1}), 4).empty()) << "without momentum there is none to move";
  EXPECT_TRUE(momenta(optim::Adam(), 4, {{"cycle_momentum", false}}).empty());
}

TEST_P(Momentum, TrajectoriesAreThoseOfPyTorch) {
  const auto check = [](const auto& rule, double after6, double after12) {
    EXPECT_NEAR(weight_after(rule, 6), after6, 3e-6 * after6);
    EXPECT_NEAR(weight_after(rule, 12), after12, 3e-6 * after12);
  };
  check(optim::Sgd({.lr = .1, .momentum = .9}), 1.9889500378903613, .9109540098370503);
  check(optim::Sgd({.lr = .1, .momentum = .9, .nesterov = true}), 1.4184129407294375, .9444346721491639);
  check(optim::Adam({.lr = .1}), .6080585762105567, .8994065313867811);
  check(optim::Adam({.lr = .1, .amsgrad = true}), .6080585762105567, .8994065313867811);
  check(optim::AdamW({.lr = .1, .weight_decay = .1}), .59025669047476, .8634266235538173);
}

TEST_P(Momentum, SequencesKeepTheOwnOneInTheirOtherParts) {
  One net;
  TrainerOptions o = cycle(GetParam(), 6);
  o.update.schedule = optim::sequence({{optim::make_schedule("constant"), 2}, {o.update.schedule}});
  o.callbacks = {std::make_shared<RunMonitor>()};
  std::vector<double> out;
  for (const EpochRecord& e :
       Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .1, .momentum = .7}), one_row()).epochs)
    out.push_back(e.extra.back().first == "momentum" ? e.extra.back().second : e.extra.front().second);
  EXPECT_NEAR(out[0], .7, 1e-12);
  EXPECT_NEAR(out[1], .7, 1e-12);
  EXPECT_NEAR(out[2], .95, 1e-2);
}

INSTANTIATE_TEST_SUITE_P(Backends, Momentum, ::testing::Values(Backend::reference, Backend::cpu),
                         [](const auto& info) { return info.param == Backend::cpu ? "cpu" : "reference"; });

TEST(Momentum, IsRefusedWhereAskedForAndNotThere) {
  One net;
  const TrainerOptions o = cycle(Backend::reference, 2, {{"cycle_momentum", true}});
  EXPECT_ERROR(Trainer(o).fit(net, nn::make_loss("mse"), optim::Sgd({.lr = .1}), one_row()),
               "this optimizer has none that moves");
  EXPECT_ERROR(optim::make_schedule("one_cycle", {{"max_momentum", 2.0}}),
               "max_momentum must be between 0 and 1");
}

}  // namespace
}  // namespace tightloop::train
