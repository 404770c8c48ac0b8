// SPDX-License-Identifier: Apache-2.0
// Update rules at the values that the definitions demand, parameter groups, and resuming.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/engine/compile.h>
#include <tightloop/optim/optim.h>

namespace tightloop::optim {
namespace {

/// A state graph that updates variables by the same gradient (an argument of each step).
class Training {
 public:
  Training(const CompileOptions& backend, std::unique_ptr<Optimizer> rule, std::vector<std::string> names,
           std::vector<Group> groups = {}, double start = 1)
      : variables_(make(names, start)),
        state_(std::move(rule), variables_, std::move(groups)),
        step_([this](const Tensor& g) { state_.update(std::vector<Tensor>(variables_.size(), g)); },
              {.compile = backend}) {}

  void step(double gradient) { step_(Tensor(Array::scalar<float>(static_cast<float>(gradient)))); }
  double value(std::size_t i = 0) const { return variables_[i].array().at(0); }
  State& state() { return state_; }
  const std::vector<Variable>& variables() const { return variables_; }

 private:
  static std::vector<Variable> make(const std::vector<std::string>& names, double start) {
    std::vector<Variable> out;
    for (const auto& name : names) out.emplace_back(Array::scalar<float>(static_cast<float>(start)), name);
    return out;
  }
  std::vector<Variable> variables_;
  State state_;
  Compiled<std::function<void(const Tensor&)>> step_;
};

std::unique_ptr<Optimizer> adamw(double lr = 0.1, double decay = 0.1) {
  return std::make_unique<AdamW>(AdamWOptions{.lr = lr, .weight_decay = decay});
}

class Rules : public ::testing::TestWithParam<CompileOptions> {};

TEST_P(Rules, DecayIsDecoupledInAdamWAndInTheGradientInAdam) {
  Training decoupled(GetParam(), adamw(), {"w"});
  decoupled.step(0);
  EXPECT_NEAR(decoupled.value(), 0.99, 1e-7);
  Training coupled(GetParam(), std::make_unique<Adam>(AdamOptions{.lr = 0.1, .weight_decay = 0.1}), {"w"});
  coupled.step(0);
  EXPECT_NEAR(coupled.value(), 0.9, 1e-6);
  Training three(GetParam(), adamw(), {"w"});
  for (const double wanted : {0.89, 0.7811, 0.673289}) {
    three.step(0.5);
    EXPECT_NEAR(three.value(), wanted, 1e-6);
  }
}

TEST_P(Rules, ExcludedParametersDoNotDecay) {
  Training t(GetParam(), adamw(), {"lin.weight", "lin.bias", "norm.weight"},
             without_decay({"*.bias", "norm*"}));
  for (int i = 0; i < 50; ++i) t.step(0);
  EXPECT_LT(t.value(0), 0.7);
  EXPECT_EQ(t.value(1), 1.0);
  EXPECT_EQ(t.value(2), 1.0);
}

TEST_P(Rules, GroupsScaleTheRate) {
  Training t(GetParam(), std::make_unique<Sgd>(SgdOptions{.lr = 0.1}), {"a", "b"}, {{"b", 0.5, {}}});
  t.step(1);
  EXPECT_NEAR(t.value(0), 0.9, 1e-7);
  EXPECT_NEAR(t.value(1), 0.95, 1e-7);
}

TEST_P(Rules, TheRateCanChangeBetweenSteps) {
  Training t(GetParam(), std::make_unique<Sgd>(SgdOptions{.lr = 0.1}), {"a"});
  t.step(1);
  t.state().set_lr(0.5);
  t.step(1);
  EXPECT_NEAR(t.value(), 0.4, 1e-7);
}

TEST_P(Rules, ResumingContinuesBitForBit) {
  for (const OptimizerDef* def : all_optimizers()) {
    const Options options =
        def->name == "sgd" ? Options{{"momentum", 0.9}, {"dampening", 0.1}} : Options{{"amsgrad", true}};
    const auto gradient = [](int step) { return std::sin(step * 1.7); };
    Training whole(GetParam(), make_optimizer(def->name, options), {"w"});
    for (int i = 0; i < 10; ++i) whole.step(gradient(i));
    Training first(GetParam(), make_optimizer(def->name, options), {"w"});
    for (int i = 0; i < 4; ++i) first.step(gradient(i));
    Training second(GetParam(), make_optimizer(def->name, options), {"w"}, {}, 7);
    second.variables()[0].set(first.variables()[0].array());
    for (std::size_t i = 0; i < first.state().states().size(); ++i) {
      EXPECT_EQ(second.state().states()[i].name(), first.state().states()[i].name());
      second.state().states()[i].set(first.state().states()[i].array());
    }
    for (int i = 4; i < 10; ++i) second.step(gradient(i));
    EXPECT_EQ(second.value(), whole.value()) << def->name;
    EXPECT_NE(whole.value(), first.value()) << def->name;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Rules, ::testing::ValuesIn(testing::backends()), testing::backend_name);

TEST(RuleErrors, ValuesOutOfRangeAreNamed) {
  EXPECT_ERROR(make_optimizer("adma"), "did you mean 'adam'?");
  EXPECT_ERROR(make_optimizer("adam", {{"lr", -1.0}}), "optimizer adam: invalid learning rate -1");
  EXPECT_ERROR(make_optimizer("sgd", {{"lr", std::numeric_limits<double>::quiet_NaN()}}),
               "invalid learning rate nan");
  EXPECT_ERROR(make_optimizer("adamw", {{"betas", Numbers{0.9, 1.0}}}), "optimizer adamw: invalid beta2 1");
  EXPECT_ERROR(make_optimizer("adam", {{"betas", Numbers{0.9}}}), "betas must be two numbers, got [0.9]");
  EXPECT_ERROR(make_optimizer("adam", {{"eps", -1e-8}}), "invalid eps");
  EXPECT_ERROR(make_optimizer("adam", {{"weight_decay", -1.0}}), "invalid weight_decay");
  EXPECT_ERROR(make_optimizer("sgd", {{"momentum", -0.5}}), "invalid momentum");
  EXPECT_ERROR(make_optimizer("sgd", {{"nesterov", true}}), "nesterov needs a momentum");
  EXPECT_ERROR(make_optimizer("adam", {{"momentum", 0.9}}), "unknown option 'momentum'");
}

TEST(RuleErrors, APatternThatMatchesNothingIsAMistake) {
  State state(Sgd(), {Variable(Array(DType::f32, {2}), "lin.weight")}, without_decay({"*.bias"}));
  EXPECT_ERROR(state.update({zeros({2})}), "no parameter matches '*.bias'");
  EXPECT_ERROR(state.update({}), "0 gradients for 1 variables");
}

TEST(Patterns, MatchAsShellsDo) {
  for (const auto& [pattern, text, wanted] :
       std::vector<std::tuple<const char*, const char*, bool>>{{"*.bias", "0.bias", true},
                                                               {"*.bias", "bias", false},
                                                               {"*bias", "bias", true},
                                                               {"norm?.*", "norm1.weight", true},
                                                               {"norm?.*", "norm12.weight", false},
                                                               {"a*b*c", "axxbyybzc", true},
                                                               {"a*b*c", "axxbyybz", false},
                                                               {"*", "", true},
                                                               {"", "", true},
                                                               {"", "a", false}})
    EXPECT_EQ(matches(pattern, text), wanted) << pattern << " " << text;
}

}  // namespace
}  // namespace tightloop::optim
