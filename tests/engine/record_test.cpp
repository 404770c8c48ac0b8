// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/engine/program.h>
#include <tightloop/ops/functions.h>

namespace tightloop {
namespace {

class RecordTest : public ::testing::TestWithParam<CompileOptions> {};
INSTANTIATE_TEST_SUITE_P(Backends, RecordTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

/// total (a state) += the mean of the batch, which is `mean`; `at` is the step.
ir::Graph averaging(std::int64_t columns) {
  const Tensor data = input("x", "data", {DType::f32, {Dim::rows(), columns}});
  const Tensor rows = input("rows", "rows", {DType::i64, {Dim::batch()}});
  const Tensor total = input("total", "state", {DType::f64, {}});
  const Tensor step = input("step", "step", {DType::i64, {}});
  const Tensor average = mean(square(gather(data, rows)));
  return {"averaging",
          {data, rows, total, step},
          {{"mean", average},
           {"total", total + cast(average, DType::f64)},
           {"at", step},
           {"seen", gather(data, rows)}}};
}

Array counting(std::int64_t rows, std::int64_t columns) {
  Array a(DType::f32, {rows, columns});
  for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(i % 17) / 7);
  return a;
}

struct Row {
  std::int64_t step;
  std::vector<double> values;
  bool operator==(const Row&) const = default;
};

std::vector<Row> read(Recorder& recorder) {
  std::vector<Row> out;
  recorder.read([&](std::int64_t step, std::span<const double> values) {
    out.push_back({step, {values.begin(), values.end()}});
  });
  return out;
}

TEST_P(RecordTest, EveryStepHasTheValuesThatItEndsWith) {
  Program one = Program::compile(averaging(3), GetParam()), all = Program::compile(averaging(3), GetParam());
  const Sampling s{.rows = 10, .batch = 4, .shuffle = true, .seed = 3};
  std::vector<Row> expected;
  one.bind("x", counting(10, 3));
  for (std::int64_t step = 0; step < 9; ++step) {
    one.run(s, step, 1);
    expected.push_back(
        {step + 1, {one.result("mean").at(0), one.state("total").at(0), static_cast<double>(step)}});
  }
  const auto recorder = std::make_shared<Recorder>(std::vector<std::string>{"mean", "total", "at"});
  all.bind("x", counting(10, 3));
  all.record(recorder);
  all.run(s, 0, 5);
  all.run(s, 5, 4);
  EXPECT_EQ(read(*recorder), expected);
  all.record(nullptr);
  all.run(s, 9, 1);
  EXPECT_TRUE(read(*recorder).empty());
}

TEST_P(RecordTest, ChosenStepsOnly) {
  Program p = Program::compile(averaging(3), GetParam());
  const auto recorder = std::make_shared<Recorder>(std::vector<std::string>{"at"}, RecordedSteps{.every = 4});
  p.bind("x", counting(10, 3));
  p.record(recorder);
  p.run({.rows = 10, .batch = 5}, 0, 7);
  p.run({.rows = 10, .batch = 5}, 7, 6);
  EXPECT_EQ(read(*recorder), (std::vector<Row>{{4, {3}}, {8, {7}}, {12, {11}}}));
}

TEST_P(RecordTest, OnlySingleNumbersThatAreOutputs) {
  Program p = Program::compile(averaging(3), GetParam());
  EXPECT_ERROR(p.record(std::make_shared<Recorder>(std::vector<std::string>{"men"})), "did you mean 'mean'?");
  EXPECT_ERROR(p.record(std::make_shared<Recorder>(std::vector<std::string>{"seen"})),
               "the output 'seen' is f32[B, 3]; what is recorded must be one number");
}

/// Steps large enough for a team of threads: no thread may write the next step's value before it is recorded.
TEST(Record, TeamsOfThreadsRecordTheSame) {
  std::vector<std::vector<Row>> seen;
  for (const int threads : {1, 2, 4}) {
    CompileOptions options;
    options.threads = threads;
    options.disk_cache = false;
    Program p = Program::compile(averaging(512), options);
    const auto recorder = std::make_shared<Recorder>(std::vector<std::string>{"mean", "at"});
    p.bind("x", counting(4096, 512));
    p.record(recorder);
    p.run({.rows = 4096, .batch = 1024, .shuffle = true, .seed = 1}, 0, 200);
    seen.push_back(read(*recorder));
  }
  ASSERT_EQ(seen[0].size(), 200u);
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0], seen[2]);
}

}  // namespace
}  // namespace tightloop
