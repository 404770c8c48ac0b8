// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/engine/program.h>
#include <tightloop/ops/functions.h>

#include <numeric>

namespace tightloop {
namespace {

class ProgramTest : public ::testing::TestWithParam<CompileOptions> {};
INSTANTIATE_TEST_SUITE_P(Backends, ProgramTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

/// total += sum of the batch's rows; last: the batch's rows; count += 1.
ir::Graph summing() {
  const Tensor data = input("x", "data", {DType::f32, {Dim::rows(), 2}});
  const Tensor rows = input("rows", "rows", {DType::i64, {Dim::batch()}});
  const Tensor total = input("total", "state", {DType::f32, {2}});
  const Tensor count = input("count", "state", {DType::i64, {}});
  const Tensor step = input("step", "step", {DType::i64, {}});
  const Tensor batch = gather(data, rows);
  return {"summing",
          {data, rows, total, count, step},
          {{"total", total + sum(batch, {0})},
           {"count", count + scalar(1, DType::i64)},
           {"last", batch},
           {"at", step}}};
}

Array counting(std::int64_t rows) {
  Array a(DType::f32, {rows, 2});
  for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(i));
  return a;
}

TEST_P(ProgramTest, RunsEpochsWithAShortLastBatch) {
  Program p = Program::compile(summing(), GetParam());
  p.bind("x", counting(10));
  const Sampling s{.rows = 10, .batch = 4, .shuffle = true, .seed = 3};
  p.run(s, 0, 3);
  EXPECT_EQ(p.state("total").at(0), 90);
  EXPECT_EQ(p.state("total").at(1), 100);
  EXPECT_EQ(p.state("count").int_at(0), 3);
  EXPECT_EQ(p.result("last").dims(), (std::vector<std::int64_t>{2, 2}));
  EXPECT_EQ(p.result("at").int_at(0), 2);
  p.run(s, 3, 3);
  EXPECT_EQ(p.result("total").at(0), 180);
}

TEST_P(ProgramTest, TheSubsetIsWhatIsSeen) {
  Program p = Program::compile(summing(), GetParam());
  p.bind("x", counting(10));
  const std::int64_t order[] = {9, 0, 4};
  p.run({.rows = 3, .batch = 2, .subset = order, .data_rows = 10}, 0, 2);
  EXPECT_EQ(p.state("total").at(0), 18 + 0 + 8);
  EXPECT_EQ(p.result("last").at(0), 8);
}

TEST_P(ProgramTest, StatesAreSetSnapshotAndRestored) {
  Program p = Program::compile(summing(), GetParam());
  p.bind("x", counting(4));
  EXPECT_EQ(p.state_names(), (std::vector<std::string>{"total", "count"}));
  p.set_state("total", Array::of<float>({2}, {1, 2}));
  const auto snapshot = p.snapshot();
  p.run({.rows = 4, .batch = 4}, 0, 1);
  EXPECT_EQ(p.state("total").at(0), 13);
  p.restore(snapshot);
  EXPECT_EQ(p.state("total").at(1), 2);
  EXPECT_EQ(p.state("count").int_at(0), 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p.state("total").bytes()) % 64, 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p.state("count").bytes()) % 64, 0u);
}

TEST_P(ProgramTest, ABoundStateLivesOutside) {
  Program p = Program::compile(summing(), GetParam());
  p.bind("x", counting(4));
  const Array total = Array::of<float>({2}, {100, 0});
  p.bind("total", total);
  p.run({.rows = 4, .batch = 4}, 0, 1);
  EXPECT_EQ(total.at(0), 112);
}

TEST_P(ProgramTest, StatesMaySwap) {
  const Tensor a = input("a", "state", {DType::f32, {3}});
  const Tensor b = input("b", "state", {DType::f32, {3}});
  Program p = Program::compile({"swap", {a, b}, {{"a", b}, {"b", a}}}, GetParam());
  p.set_state("a", Array::of<float>({3}, {1, 2, 3}));
  p.run_once();
  EXPECT_EQ(p.state("a").at(2), 0);
  EXPECT_EQ(p.state("b").at(2), 3);
  p.run({}, 0, 3);
  EXPECT_EQ(p.state("a").at(2), 3);
}

TEST_P(ProgramTest, AnOldStateCanBeAResult) {
  const Tensor a = input("a", "state", {DType::f32, {300}});
  Program p = Program::compile({"old", {a}, {{"a", a + 1.0}, {"old", a}, {"again", neg(a)}}}, GetParam());
  p.run({}, 0, 3);
  EXPECT_EQ(p.state("a").at(299), 3);
  EXPECT_EQ(p.result("old").at(299), 2);
  EXPECT_EQ(p.result("again").at(299), -2);
}

TEST_P(ProgramTest, OneValueMayFeedSeveralOutputs) {
  const Tensor a = input("a", "state", {DType::f32, {3}});
  const Tensor b = input("b", "state", {DType::f32, {3}});
  const Tensor next = a + b + 1.0;
  Program p =
      Program::compile({"g", {a, b}, {{"a", next}, {"b", next}, {"y", next}, {"z", next}}}, GetParam());
  p.run({}, 0, 2);
  for (const char* name : {"a", "b", "y", "z"}) EXPECT_EQ(p.result(name).at(1), 3) << name;
}

TEST_P(ProgramTest, LeavesWithDataAreBoundByThemselves) {
  const Tensor x = input("x", "argument", {DType::f32, {3}});
  const Tensor weights = Array::of<float>({3}, {1, 2, 4});
  const Tensor two = Array::scalar(2.0f);
  Program p = Program::compile({"g", {x}, {{"y", x * weights + two}}}, GetParam());
  p.bind("x", Array::of<float>({3}, {1, 1, 10}));
  p.run_once();
  EXPECT_EQ(p.result("y").at(2), 42);
}

TEST_P(ProgramTest, RandomNumbersFollowSeedAndStep) {
  const Tensor seed = input("seed", "seed", {DType::i64, {}});
  const Tensor step = input("step", "step", {DType::i64, {}});
  Program p = Program::compile({"g", {seed, step}, {{"u", random_uniform({5}, seed, step, 1)}}}, GetParam());
  p.set_seed(7);
  p.run({}, 3, 1);
  const Array first = p.result("u").clone();
  p.run({}, 4, 1);
  EXPECT_FALSE(identical(p.result("u"), first));
  p.run({}, 3, 1);
  EXPECT_TRUE(identical(p.result("u"), first));
  p.set_seed(8);
  p.run({}, 3, 1);
  EXPECT_FALSE(identical(p.result("u"), first));
}

TEST_P(ProgramTest, AnEpochIsAPassOverTheRowsOrSeveral) {
  const Tensor epoch = input("epoch", "epoch", {DType::i64, {}});
  Program p = Program::compile({"g", {epoch}, {{"e", epoch + scalar(10, DType::i64)}}}, GetParam());
  const auto at = [&](const Sampling& s, std::int64_t step) {
    p.run(s, step, 1);
    return p.result("e").int_at(0);
  };
  EXPECT_EQ(at({.rows = 10, .batch = 4}, 2), 10);
  EXPECT_EQ(at({.rows = 10, .batch = 4}, 3), 11);
  EXPECT_EQ(at({.rows = 4, .batch = 4, .passes = 3}, 2), 10);
  EXPECT_EQ(at({.rows = 4, .batch = 4, .passes = 3}, 6), 12);
}

TEST_P(ProgramTest, ReportsItsMemory) {
  Program p = Program::compile(summing(), GetParam());
  const MemoryReport m = p.memory({4, 10});
  EXPECT_EQ(m.state, 2 * 4u + 8u);
  EXPECT_EQ(m.data, 10 * 2 * 4u);
  EXPECT_EQ(m.results, 4 * 2 * 4u + 8u);
  EXPECT_EQ(m.total(), m.state + m.data + m.results + m.temporaries);
}

TEST_P(ProgramTest, NamesTheMistake) {
  Program p = Program::compile(summing(), GetParam());
  EXPECT_ERROR(p.run({.rows = 4, .batch = 4}, 0, 1), "the input 'x' is not bound");
  EXPECT_ERROR(p.bind("y", counting(4)), "there is no input 'y'");
  EXPECT_ERROR(p.bind("x", Array(DType::f64, {4, 2})), "takes f32[N, 2], f64[4, 2] came");
  EXPECT_ERROR(p.bind("x", Array(DType::f32, {4, 3})), "takes f32[N, 2]");
  EXPECT_ERROR(p.set_state("totl", Array()), "did you mean 'total'?");
  EXPECT_ERROR(p.set_state("total", Array()), "the state 'total' is f32[2], f32[] came");
  EXPECT_ERROR(p.set_state("x", Array()), "not a state");
  EXPECT_ERROR(p.result("last"), "no value before the first run");
  EXPECT_ERROR(p.result("lost"), "did you mean 'last'?");
  p.bind("x", counting(5));
  EXPECT_ERROR(p.run({.rows = 4, .batch = 4}, 0, 1), "is bound to f32[5, 2]");
}

TEST(Program, DisabledPassesAreSaid) {
  CompileOptions options;
  options.backend = Backend::reference;
  options.passes.disabled = {"simplify_view"};
  EXPECT_ERROR(Program::compile(summing(), options), "did you mean 'simplify_views'?");
}

}  // namespace
}  // namespace tightloop
