// SPDX-License-Identifier: Apache-2.0
// What steps write while they are traced.
#include <gtest/gtest.h>
#include <tightloop/engine/explain.h>
#include <tightloop/engine/gradients.h>
#include <tightloop/engine/program.h>
#include <tightloop/ops/functions.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

namespace tightloop {
namespace {

/// y = tanh(x w) v, plain gradient descent on mean((y - t)²): chains, products and an update.
ir::Graph training(std::int64_t width) {
  const Tensor x = input("x", "data", {DType::f32, {Dim::rows(), width}});
  const Tensor t = input("t", "data", {DType::f32, {Dim::rows(), 1}});
  const Tensor rows = input("rows", "rows", {DType::i64, {Dim::batch()}});
  const Tensor w = input("w", "state", {DType::f32, {width, width}});
  const Tensor v = input("v", "state", {DType::f32, {width, 1}});
  Tensor hidden;
  {
    const ir::Scope scope("hidden");
    hidden = tanh(matmul(gather(x, rows), w));
  }
  const Tensor off = matmul(hidden, v) - gather(t, rows);
  const Tensor loss = mean(off * off, {0, 1});
  const auto slopes = gradients(loss, {w, v});
  return {"training",
          {x, t, rows, w, v},
          {{"loss", loss}, {"w", w - 0.01 * slopes[0]}, {"v", v - 0.01 * slopes[1]}}};
}

Array numbers(std::vector<std::int64_t> dims) {
  Array a(DType::f32, dims);
  for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(i * 37 % 101) / 101 - 0.5);
  return a;
}

Program compiled(std::int64_t width, std::int64_t rows, int threads) {
  CompileOptions options;
  options.threads = threads;
  options.disk_cache = false;
  Program p = Program::compile(training(width), options);
  p.bind("x", numbers({rows, width}));
  p.bind("t", numbers({rows, 1}));
  p.set_state("w", numbers({width, width}));
  p.set_state("v", numbers({width, 1}));
  return p;
}

struct Seen {
  std::vector<Span> steps, parts;  ///< of the first thread
};

Seen drain(Spans& spans) {
  Seen out;
  spans.ring(0).drain([&](const Span& s) {
    const bool step = spans.names()[static_cast<std::size_t>(s.name)].kind == SpanKind::step;
    (step ? out.steps : out.parts).push_back(s);
  });
  return out;
}

double length(const std::vector<Span>& spans) {
  double sum = 0;
  for (const Span& s : spans) sum += static_cast<double>(s.end - s.begin);
  return sum;
}

class Traced : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Threads, Traced, ::testing::Values(1, 2));

TEST_P(Traced, PartsFollowEachOtherWithoutAGapAndFillTheStep) {
  Program p = compiled(16, 256, GetParam());
  const auto spans = std::make_shared<Spans>();
  const Sampling s{.rows = 256, .batch = 128, .shuffle = true};
  p.reserve(s);
  p.trace(spans);
  spans->set_on(true);
  p.run(s, 0, 20);
  const Seen seen = drain(*spans);
  ASSERT_EQ(seen.steps.size(), 20u);
  EXPECT_DOUBLE_EQ(length(seen.parts), length(seen.steps));
  for (std::size_t i = 1; i < seen.parts.size(); ++i) {
    ASSERT_LE(seen.parts[i].begin, seen.parts[i].end);
    if (seen.parts[i].step == seen.parts[i - 1].step) {
      ASSERT_EQ(seen.parts[i].begin, seen.parts[i - 1].end);
    }
  }
}

TEST_P(Traced, TheBitsAreThoseOfAnUntracedRun) {
  Program plain = compiled(24, 200, GetParam()), traced = compiled(24, 200, GetParam());
  const auto spans = std::make_shared<Spans>();
  const Sampling s{.rows = 200, .batch = 64, .shuffle = true, .seed = 5};
  traced.trace(spans);
  spans->set_on(true);
  plain.run(s, 0, 17);
  traced.run(s, 0, 17);
  const Array a = plain.state("w"), b = traced.state("w");
  EXPECT_EQ(std::memcmp(a.bytes(), b.bytes(), a.size_bytes()), 0);
  EXPECT_FALSE(drain(*spans).steps.empty());
}

TEST(Trace, OffWritesNothing) {
  Program p = compiled(8, 64, 1);
  const auto spans = std::make_shared<Spans>();
  p.trace(spans);
  p.run({.rows = 64, .batch = 16}, 0, 4);
  EXPECT_TRUE(drain(*spans).parts.empty());
  spans->set_on(true);
  p.trace(nullptr);
  p.run({.rows = 64, .batch = 16}, 4, 4);
  EXPECT_TRUE(drain(*spans).parts.empty());
}

TEST(Trace, StepsWithoutRoomRunUntracedAndAreCounted) {
  Program p = compiled(8, 64, 1);
  const auto spans = std::make_shared<Spans>(64);
  p.trace(spans);
  spans->set_on(true);
  p.run({.rows = 64, .batch = 16}, 0, 1000);
  const auto traced = static_cast<std::int64_t>(drain(*spans).steps.size());
  EXPECT_GT(traced, 0);
  EXPECT_LT(traced, 1000);
  EXPECT_EQ(spans->steps_left_out(), 1000 - traced);
  EXPECT_EQ(spans->dropped(), 0u) << "whole steps are left out, no parts of them";
}

/// The one test that looks at a clock: a large step, and a bound far above what noise does.
TEST(Trace, SpansOfALargeStepAddUpToItsWallTime) {
  Program p = compiled(512, 512, 1);
  const auto spans = std::make_shared<Spans>();
  const Sampling s{.rows = 512, .batch = 512};
  p.reserve(s);
  p.trace(spans);
  p.run(s, 0, 2);
  spans->set_on(true);
  const TickScale scale;
  const auto start = std::chrono::steady_clock::now();
  p.run(s, 2, 10);
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double sum = length(drain(*spans).parts) * scale.seconds_per_tick();
  EXPECT_GT(sum, 0.9 * wall);
  EXPECT_LT(sum, 1.03 * wall);
}

TEST(Facts, NameLayersPartsAndWork) {
  Program p = compiled(64, 256, 1);
  const backends::StepFacts facts = p.facts({128, 256});
  ASSERT_FALSE(facts.kernels.empty());
  std::map<backends::Part, double> flops;
  bool hidden = false;
  for (const auto& k : facts.kernels) {
    flops[k.part] += k.flops;
    hidden = hidden || (k.part == backends::Part::forward && k.path == "hidden" &&
                        k.ops.find("matmul") != std::string::npos);
    EXPECT_FALSE(k.ops.empty());
    EXPECT_FALSE(k.reason.empty());
    EXPECT_GE(k.bytes + k.cached, 0);
  }
  EXPECT_TRUE(hidden);
  const double product = 2.0 * 128 * 64 * 64;
  EXPECT_GE(flops[backends::Part::forward], product);
  EXPECT_LT(flops[backends::Part::forward], 1.5 * product);
  EXPECT_GE(flops[backends::Part::backward], product) << "the weight's gradient; x has none";
  EXPECT_LT(flops[backends::Part::backward], 2 * product);
  EXPECT_GT(facts.phases, 0);
}

TEST(Facts, KernelNamesOfATraceAreTheLabels) {
  Program p = compiled(16, 64, 1);
  const auto spans = std::make_shared<Spans>();
  p.trace(spans);
  const auto facts = p.facts({32, 64});
  std::size_t kernels = 0;
  for (const auto& name : spans->names())
    if (name.kernel >= 0) {
      EXPECT_EQ(name.text, facts.kernels[static_cast<std::size_t>(name.kernel)].label());
      ++kernels;
    }
  EXPECT_EQ(kernels, facts.kernels.size());
}

TEST(Explain, WritesLlvmAndAssembly) {
  Program p = compiled(16, 64, 1);
  EXPECT_NE(llvm_text(p).find("define void @kernel"), std::string::npos);
  EXPECT_NE(assembly_text(p).find("kernel0"), std::string::npos);
}

}  // namespace
}  // namespace tightloop
