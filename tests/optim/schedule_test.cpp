// SPDX-License-Identifier: Apache-2.0
// Schedules against PyTorch (fixtures/make_schedule_fixtures.py), at the values that the definitions demand,
// and what is refused.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tightloop/optim/schedule.h>

#include <set>

namespace tightloop::optim {
namespace {

using testing::Case;

class Schedules : public ::testing::TestWithParam<CompileOptions> {
 protected:
  /// The rates at times 0 .. n - 1.
  std::vector<double> rates(const Schedule& schedule, double lr, std::int64_t n, double length = 0) {
    Array times(DType::f64, {n});
    for (std::int64_t i = 0; i < n; ++i) times.set(i, static_cast<double>(i));
    const auto out = testing::evaluate(GetParam(), {{times}}, [&](const auto& x) {
      const double whole = length > 0 ? length : static_cast<double>(n);
      return std::vector<Tensor>{broadcast_to(schedule.rate(x[0], lr, whole), {n})};
    });
    std::vector<double> values;
    for (std::int64_t i = 0; i < n; ++i) values.push_back(out[0].at(i));
    return values;
  }
};

/// "cosine lr=0.3 T_max=10" without the rate, which is put into `lr`.
SchedulePtr named(const std::string& text, double& lr) {
  std::istringstream in(text);
  std::string name;
  in >> name;
  Options options;
  for (std::string word; in >> word;) {
    const auto at = word.find('=');
    const OptionValue value = testing::option_value(word.substr(at + 1));
    if (word.substr(0, at) == "lr")
      lr = std::get<double>(value);
    else
      options.set(word.substr(0, at), value);
  }
  return make_schedule(name, options);
}

SchedulePtr parsed(const std::string& text, double& lr) {
  if (const auto at = text.find(" + "); at != std::string::npos) {
    const SchedulePtr first = named(text.substr(0, at), lr);
    return sequence({{first, 4}, {named(text.substr(at + 3), lr)}});
  }
  if (const auto at = text.find(" * "); at != std::string::npos) {
    const SchedulePtr first = named(text.substr(0, at), lr);
    return product({first, named(text.substr(at + 3), lr)});
  }
  return named(text, lr);
}

TEST_P(Schedules, AgreeWithPyTorch) {
  std::set<std::string> seen{"reduce_on_plateau"};
  for (const Case& c : testing::read_cases("schedules", "optim")) {
    SCOPED_TRACE(c.text);
    seen.insert(c.name);
    double lr = 0;
    const SchedulePtr schedule = parsed(c.text, lr);
    const Array& wanted = c.at("rates");
    const auto found = rates(*schedule, lr, wanted.count());
    for (std::int64_t i = 0; i < wanted.count(); ++i)
      ASSERT_NEAR(found[static_cast<std::size_t>(i)], wanted.at(i), 1e-13) << "time " << i;
  }
  for (const ScheduleDef* def : all_schedules())
    EXPECT_TRUE(seen.contains(std::string(def->name))) << def->name;
}

TEST_P(Schedules, OneCycleAtItsCorners) {
  const auto r =
      rates(*make_schedule("one_cycle", {{"max_lr", 0.01}, {"total_steps", std::int64_t{50}}}), 1, 60);
  const std::pair<std::size_t, double> wanted[] = {{0, .0004}, {1, .000520346},   {7, .0052},
                                                   {14, .01},  {15, .0099798716}, {30, .0056711836},
                                                   {49, 4e-8}, {59, 4e-8}};
  for (const auto& [step, rate] : wanted) EXPECT_NEAR(r[step], rate, 1e-9 * std::max(1.0, rate)) << step;
}

TEST_P(Schedules, WarmRestartsAndTheEndOfACosineAreExact) {
  const auto r = rates(
      *make_schedule("cosine_warm_restarts", {{"T_0", std::int64_t{1}}, {"T_mult", std::int64_t{2}}}), .5, 9);
  const double wanted[] = {.5, .5, .25, .5, .4267767, .25, .0732233, .5, .4809699};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(r[i], wanted[i], 1e-7) << i;
  EXPECT_EQ(rates(*make_schedule("cosine"), 0.3, 11, 10)[10], 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, Schedules, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST(Plateau, FallsAfterPatience) {
  Plateau plateau({.patience = 2}, 0.1);
  const double wanted[] = {.1, .1, .1, .01, .01, .01, .001};
  for (const double rate : wanted) EXPECT_NEAR(0.1 * plateau.next(1.0), rate, 1e-17);
}

TEST(Plateau, GoesOnFromItsState) {
  Plateau whole({.patience = 1, .cooldown = 1}, 1), first({.patience = 1, .cooldown = 1}, 1);
  for (int i = 0; i < 4; ++i) whole.next(1.0 + i), first.next(1.0 + i);
  Plateau second({.patience = 1, .cooldown = 1}, 1);
  second.set_state(first.state());
  for (const double metric : {0.5, 0.6, 0.7, 0.8, std::nan("")})
    EXPECT_EQ(whole.next(metric), second.next(metric));
}

TEST(Plateau, KnowsBothDirectionsAndTheLowestRate) {
  Plateau up({.mode = Direction::max, .patience = 0, .threshold = 0.1, .relative = false}, 1);
  EXPECT_EQ(up.next(1), 1);
  EXPECT_EQ(up.next(1.2), 1);
  EXPECT_EQ(up.next(1.25), 0.1) << "0.05 more is too little";
  Plateau low({.patience = 0, .min_lr = 0.3}, 1);
  low.next(1);
  EXPECT_EQ(low.next(1), 0.3);
  EXPECT_EQ(low.next(1), 0.3);
  Plateau lost({.patience = 0}, 1);
  EXPECT_EQ(lost.next(NAN), 0.1) << "NaN is no improvement";
}

TEST(ScheduleErrors, NameTheOptionAndTheNearest) {
  EXPECT_ERROR(make_schedule("cosinus"), "unknown schedule 'cosinus' (did you mean 'cosine'?)");
  EXPECT_ERROR(make_schedule("cosine", {{"T_max", std::int64_t{0}}}),
               "schedule cosine: T_max must be greater than 0, not 0");
  EXPECT_ERROR(make_schedule("step"), "step_size");
  EXPECT_ERROR(make_schedule("one_cycle", {{"anneal_strategy", std::string("cosine")}}),
               "must be 'cos' or 'linear'");
  EXPECT_ERROR(make_schedule("reduce_on_plateau", {{"factor", 1.5}}),
               "factor must be between 0 and 1, not 1.5");
  EXPECT_ERROR(make_schedule("reduce_on_plateau", {{"mode", std::string("least")}}),
               "mode must be 'min' or 'max'");
  EXPECT_ERROR(sequence({}), "at least one part");
  EXPECT_ERROR(sequence({{make_schedule("cosine"), 0}, {make_schedule("cosine"), 0}}), "needs its length");
}

}  // namespace
}  // namespace tightloop::optim
