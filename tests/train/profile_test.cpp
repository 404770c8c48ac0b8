// SPDX-License-Identifier: Apache-2.0
// Schedules, sums, tables, traces and pages of profiles.
#include <tests/support/files.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/profile/found.h>
#include <tightloop/train/profile/outputs.h>
#include <tightloop/train/profile/profiler.h>

#include <cmath>
#include <filesystem>
#include <limits>

namespace tightloop::train {
namespace {

using Mode = ProfileSchedule::Mode;

TEST(ProfileSchedule, IsThatOfTorch) {
  const ProfileSchedule s{.skip_first = 2, .wait = 1, .warmup = 1, .active = 2, .repeat = 2};
  const std::string expected = "..rwaarwaa....";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Mode mode = s.mode(static_cast<std::int64_t>(i));
    EXPECT_EQ(mode, expected[i] == 'a' ? Mode::active : expected[i] == 'w' ? Mode::warmup : Mode::rest) << i;
  }
}

TEST(ProfileSchedule, NextChangeIsWhereTheModeChanges) {
  for (const ProfileSchedule& s :
       {ProfileSchedule{2, 1, 1, 2, 2}, ProfileSchedule{0, 0, 0, 3, 1}, ProfileSchedule{5, 0, 2, 1, 0}})
    for (std::int64_t step = 0; step < 20; ++step) {
      const std::int64_t next = s.next_change(step);
      ASSERT_GT(next, step);
      for (std::int64_t at = step; at < std::min<std::int64_t>(next, 40); ++at)
        EXPECT_EQ(s.mode(at), s.mode(step)) << step << " " << at;
    }
  EXPECT_EQ((ProfileSchedule{0, 0, 0, 3, 1}.next_change(3)), std::numeric_limits<std::int64_t>::max());
}

TEST(ProfileSchedule, RefusesNonsense) {
  EXPECT_ERROR(Profiler({.schedule = {.active = 0}}), "active must be at least 1 step");
  EXPECT_ERROR(Profiler({.schedule = {.wait = -1}}), "wait must be from 0");
}

/// Two steps of 100 and 140 ticks on the first thread; on the second 80 and 120 of them are one kernel.
Profile summed() {
  Spans spans;
  spans.reserve(2, 10);
  const auto a = spans.add({"one.a: matmul", SpanKind::kernel, 0, 0});
  const auto b = spans.add({"one.b: add", SpanKind::kernel, 0, 1});
  const auto wait = spans.add({"waiting", SpanKind::wait, 0});
  const auto step = spans.add({"step", SpanKind::step, 0});
  const auto evaluation = spans.add({"evaluation", SpanKind::evaluation});
  std::uint64_t at = 1000;
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto more = static_cast<std::uint64_t>(40 * i);
    spans.ring(0).write({at, at + 60 + more, i, a});
    spans.ring(0).write({at + 60 + more, at + 100 + more, i, b});
    spans.ring(0).write({at, at + 100 + more, i, step});
    spans.ring(1).write({at, at + 80 + more, i, a});
    spans.ring(1).write({at + 80 + more, at + 100 + more, i, wait});
    spans.ring(1).write({at, at + 100 + more, i, step});
    at += 200;
  }
  spans.ring(0).write({at, at + 50, 2, evaluation});
  SpanSums sums(100);
  sums.drain(spans, true);
  sums.add_window(350);
  Profile p;
  p.setting.batch = 32;
  p.peak_gflops = 100;
  p.bandwidth = 10;
  p.facts.kernels.resize(2);
  p.facts.kernels[0].path = "one.a";
  p.facts.kernels[1].path = "one.b";
  p.facts.kernels[1].part = backends::Part::backward;
  p.facts.kernels[0].flops = 2e-6 * 1e9;  // ticks are microseconds here
  p.facts.kernels[1].bytes = 1e-6 * 1e9;
  p.steps = sums.steps();
  p.threads = sums.threads();
  p.rows = rows_of(sums, spans, 0, p, 1e-6, 0);
  for (const ProfileRow& row : p.rows) p.step += row.seconds;
  p.step_median = sums.median_step() * 1e-6;
  p.names = spans.names();
  p.trace = sums.trace(1000, 1e-6);
  return p;
}

TEST(Profile, RowsAddUpToTheStepAndWhatLiesBetween) {
  const Profile p = summed();
  EXPECT_EQ(p.steps, 2);
  EXPECT_EQ(p.threads, 2);
  const auto seconds = [&](const std::string& label) {
    for (const ProfileRow& row : p.rows)
      if (row.label == label) return row.seconds;
    return std::nan("");
  };
  EXPECT_NEAR(seconds("one.a: matmul"), 1e-6 * (60 + 100 + 80 + 120) / 4, 1e-12);
  EXPECT_NEAR(seconds("one.b: add"), 1e-6 * 80 / 4, 1e-12);
  EXPECT_NEAR(seconds("waiting"), 1e-6 * 40 / 4, 1e-12);
  EXPECT_NEAR(seconds("between steps"), 1e-6 * (350 - 240 - 50) / 2, 1e-12);
  EXPECT_NEAR(p.step, 1e-6 * (350 - 50) / 2, 1e-12);
}

TEST(Profile, LinesByLayerAreAsDeepAsWanted) {
  const Profile p = summed();
  const auto lines = [&](ProfileTableOptions o) {
    std::vector<std::string> out;
    for (const auto& line : profile_lines(p, o)) out.push_back(line.name);
    return out;
  };
  EXPECT_EQ(lines({.by = ProfileBy::layer}),
            (std::vector<std::string>{"one.a", "(between steps)", "one.b", "(waiting for threads)"}));
  EXPECT_EQ(lines({.by = ProfileBy::layer, .sort = ProfileSort::name, .depth = 1}),
            (std::vector<std::string>{"(between steps)", "(waiting for threads)", "one"}));
  EXPECT_EQ(lines({.by = ProfileBy::category, .sort = ProfileSort::flops, .most = 1}),
            (std::vector<std::string>{"forward", "3 others"}));
  EXPECT_EQ(lines({.by = ProfileBy::kernel, .sort = ProfileSort::bytes})[0], "one.b: add");
}

TEST(Profile, TheTraceHoldsToTheFormat) {
  Profile p = summed();
  p.title = "a \"job\"\n\xff";
  const std::string text = trace_json(p);
  EXPECT_NO_THROW(check_trace(text));
  EXPECT_NE(
      text.find("\"name\":\"one.a: matmul\",\"cat\":\"kernel\",\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":0.0,"
                "\"dur\":60.0"),
      std::string::npos)
      << text;
}

TEST(Profile, WhatIsNoTraceIsNamed) {
  const auto of = [](const std::string& event) { return "{\"traceEvents\":[" + event + "]}"; };
  EXPECT_ERROR(check_trace("[1"), "is no JSON");
  EXPECT_ERROR(check_trace("{}"), "no list 'traceEvents'");
  EXPECT_ERROR(check_trace(of("3")), "event 0: is no object");
  EXPECT_ERROR(check_trace(of(R"({"ph":"X","pid":1,"tid":1,"ts":1,"dur":1})")), "no text 'name'");
  EXPECT_ERROR(check_trace(of(R"({"name":"a","ph":"X","pid":1,"tid":1.5,"ts":1,"dur":1})")), "whole 'tid'");
  EXPECT_ERROR(check_trace(of(R"({"name":"a","ph":"X","pid":1,"tid":1,"ts":1,"dur":-1})")),
               "'dur' is below 0");
  EXPECT_ERROR(check_trace(of(R"({"name":"a","ph":"X","pid":1,"tid":1,"ts":"1","dur":1})")),
               "no number 'ts'");
  EXPECT_ERROR(check_trace(of(R"({"name":"a","ph":"Q","pid":1,"tid":1})")), "phase 'Q'");
  EXPECT_ERROR(check_trace(of(R"({"name":"thread_name","ph":"M","pid":1,"tid":1})")), "without args.name");
}

TEST(Profile, FoldedStacksAreNanosecondsAStep) {
  EXPECT_EQ(folded_stacks(summed()),
            "step;backward;one;b;add 20000\nstep;between steps 30000\nstep;forward;one;a;matmul 90000\n"
            "step;waiting for threads 10000\n");
}

TEST(Profile, SpansBeyondTheBoundAreInTheSumsAlone) {
  Spans spans;
  spans.reserve(1, 10);
  const auto step = spans.add({"step", SpanKind::step, 0});
  for (std::uint64_t i = 0; i < 10; ++i) spans.ring(0).write({i, i + 1, 0, step});
  SpanSums sums(4);
  sums.drain(spans, true);
  EXPECT_EQ(sums.steps(), 10);
  EXPECT_EQ(sums.cut(), 6);
  EXPECT_EQ(sums.trace(0, 1).size(), 4u);
}

/// y = out(tanh(in(x)))
struct Net : nn::Module {
  nn::Linear in{8, 16}, out{16, 1};
  void fields(nn::Fields& f) override { f("in", in), f("out", out); }
  Tensor operator()(const Tensor& x) { return out(tanh(in(x))); }
};

data::Dataset table(std::int64_t rows) {
  Array x(DType::f32, {rows, 8}), y(DType::f32, {rows, 1});
  for (std::int64_t i = 0; i < x.count(); ++i) x.set(i, static_cast<double>(i * 37 % 41) / 41);
  return data::Dataset({{"x", x}, {"y", y}});
}

std::shared_ptr<Profiler> profiled(const ProfilerOptions& options, TrainerOptions trainer) {
  Net net;
  const auto profiler = std::make_shared<Profiler>(options);
  trainer.callbacks.push_back(profiler);
  Trainer(trainer).fit(net, nn::make_loss("mse"), optim::Adam(), table(64), table(16));
  return profiler;
}

TEST(Profiler, TracesExactlyTheActiveSteps) {
  const auto profiler =
      profiled({.schedule = {.skip_first = 3, .wait = 2, .warmup = 2, .active = 5, .repeat = 2}},
               {.epochs = 10, .batch = 16});
  const Profile p = profiler->profile();
  EXPECT_EQ(p.steps, 10);
  EXPECT_EQ(p.left_out, 0);
  EXPECT_EQ(p.run_steps, 40);
  EXPECT_TRUE(profiler->done());
  std::vector<std::int64_t> steps;
  for (const TraceSpan& s : p.trace)
    if (s.thread == 0 && p.names[static_cast<std::size_t>(s.name)].kind == SpanKind::step)
      steps.push_back(s.step);
  EXPECT_EQ(steps, (std::vector<std::int64_t>{7, 8, 9, 10, 11, 16, 17, 18, 19, 20}));
  bool backward = false;
  for (const ProfileRow& row : p.rows)
    backward = backward || (row.category == "backward" && row.path.starts_with("in"));
  EXPECT_TRUE(backward);
}

TEST(Profiler, CountsWhatHappensBetweenSteps) {
  const Profile p = profiled({}, {.epochs = 6, .batch = 16, .evaluate_every = 2})->profile();
  const auto count = [&](SpanKind kind) {
    for (const ProfileActivity& a : p.activities)
      if (a.kind == kind) return a.count;
    return std::int64_t{0};
  };
  EXPECT_EQ(count(SpanKind::evaluation), 3);
  EXPECT_EQ(p.setting.evaluate_every, 2);
  EXPECT_EQ(p.setting.steps_per_epoch, 4);
}

TEST(Profiler, TheTrainingIsTheSameToTheBit) {
  const auto weights = [](bool with) {
    Net net;
    TrainerOptions o{.epochs = 5, .batch = 16, .seed = 3};
    if (with) o.callbacks.push_back(std::make_shared<Profiler>());
    Trainer(o).fit(net, nn::make_loss("mse"), optim::Adam(), table(60));
    std::vector<double> out;
    for (const auto& p : net.parameters())
      for (std::int64_t i = 0; i < p.parameter->value().array().count(); ++i)
        out.push_back(p.parameter->value().array().at(i));
    return out;
  };
  EXPECT_EQ(weights(true), weights(false));
}

TEST(Profiler, WritesItsFilesAndSaysSoWhenItCannot) {
  const testing::TempDir folder;
  const auto profiler = profiled({}, {.epochs = 40, .batch = 16});
  profiler->write(folder / "p", "net");
  EXPECT_NO_THROW(check_trace(testing::content_of(folder / "p/trace.json")));
  EXPECT_NE(testing::content_of(folder / "p/profile.html").find("<section id=timeline"), std::string::npos);
  EXPECT_FALSE(testing::content_of(folder / "p/profile.folded").empty());
  testing::put(folder / "file", "");
  EXPECT_ERROR(profiler->write(folder / "file/p"), "cannot be made");
}

TEST(Profiler, ARunThatIsTooShortHasNoProfile) {
  const auto profiler = profiled({.schedule = {.skip_first = 1000}}, {.epochs = 2, .batch = 16});
  const Profile p = profiler->profile();
  EXPECT_TRUE(p.empty());
  EXPECT_EQ(profile_text(p), "No step was profiled.\n");
  EXPECT_EQ(verdict_text(p), "No step was profiled.");
}

}  // namespace
}  // namespace tightloop::train
