// SPDX-License-Identifier: Apache-2.0
// optim::State in loops of one's own: several optimizers in one step, schedules, saving; what it refuses.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/engine/gradients.h>
#include <tightloop/engine/loop.h>
#include <tightloop/optim/optim.h>

namespace tightloop::optim {
namespace {

class StateTest : public ::testing::TestWithParam<CompileOptions> {};
INSTANTIATE_TEST_SUITE_P(Backends, StateTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

Variable number(double value, const std::string& name) { return Variable(Array::scalar(value), name); }

/// Adam by its published formulas, on one number.
struct PlainAdam {
  double lr, m = 0, v = 0;
  int t = 0;
  double next(double p, double g) {
    ++t;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    return p - lr * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
  }
};

// x wants to be y, y wants to be -x: a game of two players, each with its own rate and rule. The second one
// moves after the first, and sees where that went.
TEST_P(StateTest, TwoOptimizersInOneStepAreThoseOfAReference) {
  const Variable x = number(1, "x"), y = number(-0.5, "y");
  State first(Adam({.lr = 0.1}), {x}), second(Sgd({.lr = 0.03}), {y});
  auto play = loop(
      [&] {
        const Tensor x_loss = square(x.value() - y.value());
        first.minimize(x_loss);
        const Tensor y_loss = square(y.value() + x.value());
        second.minimize(y_loss);
        return std::make_pair(x_loss, y_loss);
      },
      {.compile = GetParam()});
  double a = 1, b = -0.5, a_losses = 0, b_losses = 0;
  PlainAdam adam{0.1};
  const int steps = 200;
  for (int i = 0; i < steps; ++i) {
    a_losses += (a - b) * (a - b);
    a = adam.next(a, 2 * (a - b));
    b_losses += (b + a) * (b + a);
    b -= 0.03 * 2 * (b + a);
  }
  const auto [x_mean, y_mean] = play.run(steps);
  EXPECT_NEAR(x.array().at(0), a, 1e-12);
  EXPECT_NEAR(y.array().at(0), b, 1e-12);
  EXPECT_NEAR(x_mean.item(), a_losses / steps, 1e-12);
  EXPECT_NEAR(y_mean.item(), b_losses / steps, 1e-12);
}

TEST_P(StateTest, MinimizeIsUpdateWithGradients) {
  const Variable a = number(2, "w"), b = number(2, "w");
  State one(Adam({.lr = 0.1}), {a}), other(Adam({.lr = 0.1}), {b});
  auto loss = [](const Variable& w) { return square(w.value() - 5.0); };
  auto step = compile(
      [&] {
        one.minimize(loss(a));
        other.update(gradients(loss(b), std::vector<Variable>{b}));
      },
      {.compile = GetParam()});
  for (int i = 0; i < 5; ++i) step();
  EXPECT_TRUE(identical(a.array(), b.array()));
}

TEST_P(StateTest, AScheduleMovesTheRateInTheGraph) {
  const Variable w = number(0, "w");
  State sgd(Sgd({.lr = 1}), {w},
            {.schedule = make_schedule("linear", {{"start_factor", 0.25}, {"total_iters", std::int64_t{3}}}),
             .steps = 10});
  auto step = loop([&] { sgd.minimize(w.value()); }, {.compile = GetParam()});
  // Rates 0.25, 0.5, 0.75, 1, 1: the gradient is 1.
  step.run(5);
  EXPECT_NEAR(w.array().at(0), -3.5, 1e-12);
}

TEST(State, TwoOfThemAreSavedUnderTwoNames) {
  const Variable w = number(0, "0.weight");
  const State plain(Adam(), {w}), named(Adam(), {w}, {.name = "critic"});
  std::vector<std::string> names;
  for (const auto& v : plain.states()) names.push_back(v.name());
  for (const auto& v : named.states()) names.push_back(v.name());
  EXPECT_EQ(names, (std::vector<std::string>{"optimizer.exp_avg.0.weight", "optimizer.exp_avg_sq.0.weight",
                                             "optimizer.step", "critic.exp_avg.0.weight",
                                             "critic.exp_avg_sq.0.weight", "critic.step"}));
}

TEST(StateErrors, AreSaid) {
  const Variable w = number(1, "w"), other = number(1, "v");
  State sgd(Sgd(), {w});
  EXPECT_ERROR(sgd.minimize(square(other.value())),
               "the loss depends on none of the 1 variables as they are now");
  auto stale = compile([&] {
    const Tensor loss = square(w.value());
    sgd.minimize(loss);
    sgd.minimize(loss);
  });
  EXPECT_ERROR(stale(), "after an update of them anew");
  EXPECT_ERROR(State(Sgd(), {w}, {.schedule = make_schedule("cosine")}), "needs its length");
  EXPECT_ERROR(State(Sgd(), {w}, {.schedule = make_schedule("reduce_on_plateau"), .steps = 5}), "set_lr()");
  State scheduled(Sgd(), {w}, {.schedule = make_schedule("cosine"), .steps = 5});
  EXPECT_ERROR(scheduled.set_lr(1), "a schedule gives the rate");
}

}  // namespace
}  // namespace tightloop::optim
