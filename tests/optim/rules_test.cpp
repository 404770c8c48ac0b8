// SPDX-License-Identifier: Apache-2.0
// Update rules at the values that the definitions demand, parameter groups, and resuming.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tests/support/update_rules.h>
#include <tightloop/engine/compile.h>
#include <tightloop/optim/optim.h>

namespace tightloop::optim {
namespace {

/// A state graph that updates variables by the same gradient (an argument of each step).
class Training {
 public:
  Training(const CompileOptions& backend, std::unique_ptr<Optimizer> rule, std::vector<std::string> names,
           std::vector<Group> groups = {}, double start = 1, Shape shape = {})
      : variables_(make(names, start, shape)),
        state_(with(std::move(rule), std::move(groups)), variables_),
        step_(
            [this, shape](const Tensor& g) {
              state_.update(std::vector<Tensor>(variables_.size(), broadcast_to(g, shape)));
            },
            {.compile = backend}) {}

  void step(double gradient) { step_(Tensor(Array::scalar<float>(static_cast<float>(gradient)))); }
  double value(std::size_t i = 0) const { return variables_[i].array().at(0); }
  State& state() { return state_; }
  const std::vector<Variable>& variables() const { return variables_; }

 private:
  static std::vector<Variable> make(const std::vector<std::string>& names, double start, const Shape& shape) {
    std::vector<Variable> out;
    for (const auto& name : names) {
      Array value(DType::f32, shape.values({}));
      for (std::int64_t i = 0; i < value.count(); ++i) value.set(i, start);
      out.emplace_back(value, name);
    }
    return out;
  }
  static std::unique_ptr<Optimizer> with(std::unique_ptr<Optimizer> rule, std::vector<Group> groups) {
    rule->set_groups(std::move(groups));
    return rule;
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

TEST_P(Rules, GroupsHaveTheirOwnRate) {
  Training t(GetParam(), std::make_unique<Sgd>(SgdOptions{.lr = 0.1}), {"a", "b", "c"},
             {{.pattern = "b", .lr = 0.03}, {.pattern = "[bc]", .lr = 1}, {.pattern = "?", .lr_scale = 0}});
  EXPECT_ERROR(t.step(1), "no parameter matches '[bc]'");
  Training u(GetParam(), std::make_unique<Sgd>(SgdOptions{.lr = 0.1}), {"a", "b", "c"},
             {{.pattern = "b", .lr = 0.03}, {.pattern = "b*", .lr = 1}, {.pattern = "c", .lr_scale = 0}});
  u.step(1);
  EXPECT_NEAR(u.value(0), 0.9, 1e-7);
  EXPECT_NEAR(u.value(1), 0.97, 1e-7) << "the first match counts";
  EXPECT_EQ(u.value(2), 1);
  u.state().set_lr(0.05);
  u.step(1);
  EXPECT_NEAR(u.value(1), 0.955, 1e-7) << "a group's rate moves as the optimizer's";
}

TEST_P(Rules, EveryRuleTakesAGroupsRate) {
  for (const OptimizerDef* def : testing::update_rules()) {
    const Shape shape = def->name == "muon" ? Shape{1, 1} : Shape{};
    Training t(GetParam(), make_optimizer(def->name, {{"lr", 0.5}}), {"w", "b"},
               {{.pattern = "b", .lr = 0.25}}, 1, shape);
    Training alone(GetParam(), make_optimizer(def->name, {{"lr", 0.25}}), {"b"}, {}, 1, shape);
    for (int i = 0; i < 3; ++i) t.step(0.3), alone.step(0.3);
    EXPECT_EQ(t.value(1), alone.value(0)) << def->name;
    EXPECT_NE(t.value(0), t.value(1)) << def->name;
  }
}

TEST_P(Rules, TheRateCanChangeBetweenSteps) {
  Training t(GetParam(), std::make_unique<Sgd>(SgdOptions{.lr = 0.1}), {"a"});
  t.step(1);
  t.state().set_lr(0.5);
  t.step(1);
  EXPECT_NEAR(t.value(), 0.4, 1e-7);
}

/// Options under which a rule keeps all the state that it can.
Options with_all_slots(std::string_view name) {
  if (name == "sgd") return {{"momentum", 0.9}, {"dampening", 0.1}};
  if (name == "adam" || name == "adamw") return {{"amsgrad", true}};
  if (name == "rmsprop") return {{"momentum", 0.9}, {"centered", true}};
  if (name == "adagrad") return {{"initial_accumulator_value", 0.5}, {"lr_decay", 0.1}};
  return {};
}

TEST_P(Rules, ResumingContinuesBitForBit) {
  for (const OptimizerDef* def : testing::update_rules()) {
    const Options options = with_all_slots(def->name);
    const Shape shape = def->name == "muon" ? Shape{1, 1} : Shape{};
    const auto gradient = [](int step) { return std::sin(step * 1.7); };
    Training whole(GetParam(), make_optimizer(def->name, options), {"w"}, {}, 1, shape);
    for (int i = 0; i < 10; ++i) whole.step(gradient(i));
    Training first(GetParam(), make_optimizer(def->name, options), {"w"}, {}, 1, shape);
    for (int i = 0; i < 4; ++i) first.step(gradient(i));
    Training second(GetParam(), make_optimizer(def->name, options), {"w"}, {}, 7, shape);
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

TEST_P(Rules, ALostGradientIsSeen) {
  for (const OptimizerDef* def : testing::update_rules()) {
    const Shape shape = def->name == "muon" ? Shape{1, 1} : Shape{};
    Training t(GetParam(), make_optimizer(def->name), {"w"}, {}, 1, shape);
    t.step(NAN);
    EXPECT_TRUE(std::isnan(t.value())) << def->name;
  }
}

TEST_P(Rules, ExcludedParametersDoNotDecayUnderAnyRule) {
  for (const OptimizerDef* def : testing::update_rules()) {
    const Shape shape = def->name == "muon" ? Shape{1, 1} : Shape{};
    Training t(GetParam(), make_optimizer(def->name, {{"weight_decay", 0.1}, {"lr", 0.1}}), {"w", "bias"},
               without_decay({"bias"}), 1, shape);
    for (int i = 0; i < 3; ++i) t.step(0);
    EXPECT_LT(t.value(0), 1) << def->name;
    EXPECT_EQ(t.value(1), 1) << def->name;
  }
}

TEST_P(Rules, AConstantGradientHasNoDeviationAndStaysANumber) {
  Training t(GetParam(), make_optimizer("rmsprop", {{"centered", true}, {"alpha", 0.3}, {"eps", 1.0}}),
             {"w"});
  for (int i = 0; i < 200; ++i) t.step(0.1);
  EXPECT_TRUE(std::isfinite(t.value()));
}

TEST_P(Rules, LambStepsByTheParametersLength) {
  const LambOptions options{.lr = 0.1, .weight_decay = 0};
  Training zero(GetParam(), std::make_unique<Lamb>(options), {"w"}, {}, 0);
  zero.step(5);
  EXPECT_NEAR(zero.value(), -0.1, 1e-6);
  Training t(GetParam(), std::make_unique<Lamb>(options), {"w"}, {}, 20, {3});
  t.step(5);
  EXPECT_NEAR(t.value(), 18, 1e-5);
  t.step(0);
  EXPECT_NEAR(t.value(), 16.2, 1e-5);
}

TEST_P(Rules, MuonMakesStepsOrthogonal) {
  MuonOptions options{.lr = 1, .weight_decay = 0, .momentum = 0, .ns_coefficients = {2, -1.5, 0.5}};
  options.ns_steps = 30;
  Training t(GetParam(), std::make_unique<Muon>(options), {"w"}, {}, 0, {2, 8});
  t.step(3);  // rank one: the nearest orthogonal matrix has -1/√16 everywhere
  EXPECT_NEAR(t.value(), -0.25, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Backends, Rules, ::testing::ValuesIn(testing::backends()), testing::backend_name);

TEST(Factors, NadamKnowsTheProductOfItsMomentum) {
  for (const double decay : {0.0, 1e-12, 4e-3, 0.5, 30.0}) {
    const NAdam rule({.lr = 1, .beta1 = 0.9999, .momentum_decay = decay});
    double product = 1;
    const auto mu = [&](int t) { return 0.9999 * (1 - 0.5 * std::pow(0.96, t * decay)); };
    for (int t = 1; t <= 1000; ++t) {
      product *= mu(t);
      if (t != 1 && t != 10 && t != 1000) continue;
      const auto f = rule.prepare(Tensor(Array::scalar<std::int64_t>(t)), scalar(1, DType::f64), 0);
      const double root = std::sqrt(1 - std::pow(0.999, t));
      EXPECT_NEAR(f[0].item() / (root * (1 - mu(t)) / (1 - product)), 1, 1e-12) << decay << " " << t;
      EXPECT_NEAR(f[1].item() / (root * mu(t + 1) / (1 - product * mu(t + 1))), 1, 1e-12)
          << decay << " " << t;
    }
  }
}

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

TEST(RuleErrors, EveryRuleChecksItsNumbers) {
  for (const OptimizerDef* def : all_optimizers())
    for (const OptionSpec& o : def->options) {
      if (o.type != OptionType::number) continue;
      for (const double bad : {-1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
        if (o.name == "dampening") continue;  // any, as PyTorch
        EXPECT_THROW(make_optimizer(def->name, {{std::string(o.name), bad}}), Error)
            << def->name << " " << o.name << " " << bad;
      }
    }
  for (const char* name : {"adamax", "nadam", "radam", "lion", "lamb"}) {
    EXPECT_ERROR(make_optimizer(name, {{"betas", Numbers{1.0, 0.9}}}), "invalid beta1 1");
    EXPECT_ERROR(make_optimizer(name, {{"betas", Numbers{0.9, -0.1}}}), "invalid beta2 -0.1");
    EXPECT_ERROR(make_optimizer(name, {{"betas", Numbers{0.9, 0.9, 0.9}}}), "betas must be two numbers");
  }
  EXPECT_ERROR(make_optimizer("rmsprop", {{"alpha", 1.5}}),
               "optimizer rmsprop: invalid alpha 1.5: must be 0..1");
  EXPECT_ERROR(make_optimizer("adadelta", {{"rho", 1.5}}), "invalid rho 1.5");
  EXPECT_ERROR(make_optimizer("muon", {{"ns_coefficients", Numbers{1, 2}}}), "three numbers, got [1, 2]");
  EXPECT_ERROR(make_optimizer("muon", {{"ns_steps", std::int64_t{100}}}), "invalid ns_steps 100");
  EXPECT_ERROR(make_optimizer("muon", {{"ns_steps", std::int64_t{-1}}}), "invalid ns_steps -1");
  EXPECT_ERROR(make_optimizer("muon", {{"adjust_lr_fn", "half"}}),
               "'original' or 'match_rms_adamw', not 'half'");
}

TEST(RuleErrors, MuonIsForMatrices) {
  State state(Muon(), {Variable(Array(DType::f32, {2}), "lin.bias")});
  EXPECT_ERROR(state.update({zeros({2})}), "parameter lin.bias is f32[2]");
}

TEST(RuleErrors, APatternThatMatchesNothingIsAMistake) {
  State state(with_groups(Sgd(), without_decay({"*.bias"})),
              {Variable(Array(DType::f32, {2}), "lin.weight")});
  EXPECT_ERROR(state.update({zeros({2})}), "no parameter matches '*.bias'");
  EXPECT_ERROR(check_patterns(without_decay({"*.wieght"}), {"lin.weight"}), "did you mean '*.weight'?");
  EXPECT_ERROR(check_patterns(without_decay({"lni.*"}), {"lin.weight"}), "did you mean 'lin.*'?");
  EXPECT_ERROR(with_groups(Sgd(), {{.pattern = "*", .lr = -1}}), "group '*': invalid learning rate -1");
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
