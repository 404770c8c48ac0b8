// SPDX-License-Identifier: Apache-2.0
// The search against a world of its own: a clock that trials move, costs that follow from the settings, and
// noise from a fixed generator.
#include <tests/support/files.h>
#include <tightloop/train/tune/tuner.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

namespace tightloop::train::tune {
namespace {

struct World : Measurer {
  std::function<double(const Settings&)> cost = [](const Settings&) { return 1e-6; };
  std::function<double(const Settings&)> loss_of = [](const Settings&) { return 1.0; };
  std::function<void(const Settings&)> before = [](const Settings&) {};
  double noise = 0.005;  ///< standard deviation, relative
  double drift = 0;      ///< the machine gets slower by this share a second
  double beside = 0.01;  ///< seconds of a trial beside its slice
  double spread = 0.01;  ///< of the loss by the seed
  double clock = 100;
  int interrupt_after = -1;  ///< trials
  std::mt19937 generator{7};
  int trials = 0;
  std::vector<Settings> ran;

  double seconds_per_sample(const Settings& s, double seconds) override {
    if (trials++ == interrupt_after) throw Interrupted{};
    before(s);
    ran.push_back(s);
    clock += seconds + beside;
    std::normal_distribution<double> wobble(1, noise);
    return cost(s) * wobble(generator) * (1 + drift * (clock - 100));
  }
  double loss(const Settings& s, bool other_seed) override {
    before(s);
    clock += 0.1;
    return loss_of(s) + (other_seed ? spread : 0);
  }
  std::size_t memory(const Settings& s) override { return 1000 + 100 * s.size(); }
  double now() override { return clock; }
};

bool has(const Settings& s, const std::string& setting) {
  return std::find(s.begin(), s.end(), setting) != s.end();
}

Proposed move(const std::string& name, std::vector<Variant> variants, Effect effect = Effect::numbers,
              bool ladder = false) {
  return {name, effect, {std::move(variants), "", ladder}};
}
Proposed simple(const std::string& name, Effect effect = Effect::numbers) {
  return move(name, {{name + " on", {name + "=1"}}}, effect);
}

const Outcome& outcome(const TuneResult& r, const std::string& label) {
  for (const Outcome& o : r.outcomes)
    if (o.label == label) return o;
  throw std::runtime_error("no outcome " + label);
}

TEST(TuneSearch, TakesWhatGainsAndConfirmsIt) {
  World world;
  world.cost = [](const Settings& s) { return 1e-6 / (has(s, "a=1") ? 2 : 1) / (has(s, "b=1") ? 1.5 : 1); };
  const TuneResult r = search({simple("a"), simple("b"), simple("c")}, world, {.seconds = 30});
  EXPECT_EQ(r.taken, (Settings{"a=1", "b=1"}));
  ASSERT_TRUE(r.confirmed);
  EXPECT_NEAR(r.confirmed->middle, 3, 0.1);
  EXPECT_NEAR(outcome(r, "a on").gain->middle, 2, 0.05);
  EXPECT_EQ(outcome(r, "a on").why, "taken");
  EXPECT_NEAR(r.seconds_per_sample, 1e-6, 3e-8);
  EXPECT_FALSE(outcome(r, "c on").taken);
  EXPECT_NE(outcome(r, "c on").why.find("noise"), std::string::npos) << outcome(r, "c on").why;
  EXPECT_EQ(r.memory, 1000u);
  EXPECT_EQ(r.tuned_memory, 1200u);
  EXPECT_NE(r.ending.find("faster for the same samples"), std::string::npos) << r.ending;
  EXPECT_LE(r.seconds, 33);
}

TEST(TuneSearch, FindsNothingWhereThereIsNothing) {
  for (const double noise : {0.002, 0.02, 0.1}) {
    SCOPED_TRACE(noise);
    World world;
    world.noise = noise;
    const TuneResult r = search({simple("a"), simple("b"), simple("c"), simple("d")}, world, {.seconds = 60});
    EXPECT_TRUE(r.taken.empty());
    EXPECT_NE(r.ending.find("nothing found"), std::string::npos);
    for (const Outcome& o : r.outcomes) EXPECT_FALSE(o.taken) << o.move << " " << o.why;
  }
}

// Hundreds of good jobs: noise must hardly ever be taken for a gain.
TEST(TuneSearch, NoiseIsSeldomTakenForAGain) {
  int taken = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    World world;
    world.generator.seed(seed);
    world.noise = 0.05;
    taken += search({simple("a"), simple("b"), simple("c")}, world, {.seconds = 20}).taken.empty() ? 0 : 1;
  }
  EXPECT_LE(taken, 6) << "of 300";
}

TEST(TuneSearch, AMachineThatGetsSlowerFavoursNobody) {
  World world;
  world.drift = 0.01;
  const TuneResult r = search({simple("a"), simple("b")}, world, {.seconds = 60});
  EXPECT_TRUE(r.taken.empty()) << r.ending;
}

TEST(TuneSearch, AWorseLossIsShownAndNotTaken) {
  World world;
  world.cost = [](const Settings& s) { return has(s, "a=1") ? 5e-7 : 1e-6; };
  world.loss_of = [](const Settings& s) { return has(s, "a=1") ? 1.2 : 1.0; };
  const TuneResult r = search({simple("a")}, world, {.seconds = 20});
  EXPECT_TRUE(r.taken.empty());
  EXPECT_EQ(outcome(r, "a on").loss, 1.2);
  EXPECT_NEAR(outcome(r, "a on").gain->middle, 2, 0.1);
  EXPECT_NE(outcome(r, "a on").why.find("higher after the same samples"), std::string::npos);
  // What another seed changes is allowed.
  world.spread = 0.3;
  EXPECT_EQ(search({simple("a")}, world, {.seconds = 20}).taken, Settings{"a=1"});
  // So is a better one.
  world.spread = 0, world.loss_of = [](const Settings& s) { return has(s, "a=1") ? 0.5 : 1.0; };
  EXPECT_EQ(search({simple("a")}, world, {.seconds = 20}).taken, Settings{"a=1"});
}

TEST(TuneSearch, TheSameBitsMustGiveTheSameLoss) {
  World world;
  world.cost = [](const Settings& s) { return has(s, "a=1") ? 5e-7 : 1e-6; };
  world.loss_of = [](const Settings& s) { return has(s, "a=1") ? 0.99 : 1.0; };
  const TuneResult r = search({simple("a", Effect::none)}, world, {.seconds = 20});
  EXPECT_TRUE(r.taken.empty());
  EXPECT_NE(outcome(r, "a on").why.find("nothing should change it"), std::string::npos);
}

TEST(TuneSearch, AMoveThatFailsIsReportedAndOthersGoOn) {
  World world;
  world.cost = [](const Settings& s) { return has(s, "b=1") ? 5e-7 : 1e-6; };
  world.before = [](const Settings& s) {
    if (has(s, "a=1")) throw Error("out of luck");
  };
  const TuneResult r = search({simple("a"), simple("b")}, world, {.seconds = 20});
  EXPECT_EQ(outcome(r, "a on").why, "failed: out of luck");
  EXPECT_EQ(r.taken, Settings{"b=1"});
}

TEST(TuneSearch, InteractionsAreMeasured) {
  World world;  // each gains alone, together they are slower than a alone
  world.cost = [](const Settings& s) {
    const bool a = has(s, "a=1"), b = has(s, "b=1");
    return a && b ? 6e-7 : a ? 4e-7 : b ? 7e-7 : 1e-6;
  };
  const TuneResult r = search({simple("b"), simple("a")}, world, {.seconds = 30});
  EXPECT_EQ(r.taken, Settings{"a=1"});
  EXPECT_NE(outcome(r, "b on").why.find("beside those taken it gains nothing"), std::string::npos);
}

TEST(TuneSearch, MovesOfTheSameKeyAreNotPutTogether) {
  World world;
  world.cost = [](const Settings& s) { return has(s, "batch=2") ? 5e-7 : has(s, "batch=3") ? 7e-7 : 1e-6; };
  const TuneResult r =
      search({move("x", {{"two", {"batch=2", "lr=1"}}}), move("y", {{"three", {"batch=3"}}})}, world,
             {.seconds = 30});
  EXPECT_EQ(r.taken, (Settings{"batch=2", "lr=1"}));
  EXPECT_EQ(outcome(r, "three").why, "another move that was taken sets batch");
}

TEST(TuneSearch, ALadderIsClimbedAsFarAsItGains) {
  World world;
  world.cost = [](const Settings& s) {
    return has(s, "n=2") ? 5e-7 : has(s, "n=4") ? 3e-7 : has(s, "n=8") ? 4e-7 : 1e-6;
  };
  const TuneResult r = search(
      {move("n", {{"2", {"n=2"}}, {"4", {"n=4"}}, {"8", {"n=8"}}, {"16", {"n=16"}}}, Effect::numbers, true)},
      world, {.seconds = 30});
  EXPECT_EQ(r.taken, Settings{"n=4"});
  EXPECT_EQ(outcome(r, "2").why, "another way gains more");
  EXPECT_EQ(r.outcomes.size(), 3u) << "16 is behind one that is no better";
}

TEST(TuneSearch, TheNextBestIsTakenWhereTheBestLosesTheLoss) {
  World world;
  world.cost = [](const Settings& s) { return has(s, "n=2") ? 5e-7 : has(s, "n=4") ? 3e-7 : 1e-6; };
  world.loss_of = [](const Settings& s) { return has(s, "n=4") ? 2 : 1.0; };
  EXPECT_EQ(search({move("n", {{"2", {"n=2"}}, {"4", {"n=4"}}})}, world, {.seconds = 30}).taken,
            Settings{"n=2"});
}

TEST(TuneSearch, WhatTheEndDoesNotConfirmIsNotTaken) {
  World world;  // fast until the search is nearly over
  world.cost = [&](const Settings& s) { return has(s, "a=1") && world.trials <= 12 ? 5e-7 : 1e-6; };
  const TuneResult r = search({simple("a")}, world, {.seconds = 20});
  EXPECT_TRUE(r.taken.empty());
  EXPECT_NE(outcome(r, "a on").why.find("did not confirm"), std::string::npos) << outcome(r, "a on").why;
}

TEST(TuneSearch, TooLittleTimeSaysHowMuch) {
  World world;
  world.beside = 2;
  const std::string said = testing::error_of([&] { search({simple("a")}, world, {.seconds = 10}); });
  EXPECT_NE(said.find("take --time "), std::string::npos) << said;
  const double wanted = std::stod(said.substr(said.find("--time ") + 7));
  EXPECT_NO_THROW(search({simple("a")}, world, {.seconds = wanted + 5}));
}

TEST(TuneSearch, WhenTheTimeIsUpTheRestIsNamed) {
  World world;
  world.beside = 0.4;
  const TuneResult r = search({simple("a"), simple("b"), simple("c"), simple("d"), simple("e"), simple("f")},
                              world, {.seconds = 12});
  EXPECT_EQ(r.outcomes.size(), 6u);
  EXPECT_EQ(outcome(r, "f on").why, "not tried: the time was up");
  EXPECT_FALSE(outcome(r, "f on").gain);
}

TEST(TuneSearch, AnInterruptedSearchKeepsWhatItKnows) {
  for (const int after : {0, 3, 9, 14, 25, 40}) {
    SCOPED_TRACE(after);
    World world;
    world.interrupt_after = after;
    world.cost = [](const Settings& s) { return 1e-6 / (has(s, "a=1") ? 2 : 1) / (has(s, "b=1") ? 1.5 : 1); };
    const TuneResult r = search({simple("a"), simple("b"), simple("c")}, world, {.seconds = 30});
    EXPECT_TRUE(r.interrupted);
    EXPECT_EQ(r.outcomes.size(), 3u);
    EXPECT_TRUE(r.taken.empty() || has(r.taken, "a=1"));
    EXPECT_EQ(r.taken.empty(), after < 12) << r.ending;
    for (const Outcome& o : r.outcomes) EXPECT_FALSE(o.why.empty());
  }
}

TEST(TuneSearch, SkippedMovesSayWhy) {
  World world;
  const TuneResult r = search({{"a", Effect::none, skip("no such hardware")}}, world, {.seconds = 5});
  ASSERT_EQ(r.outcomes.size(), 1u);
  EXPECT_EQ(r.outcomes[0].why, "no such hardware");
}

}  // namespace
}  // namespace tightloop::train::tune
