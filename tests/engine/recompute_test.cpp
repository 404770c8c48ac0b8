// SPDX-License-Identifier: Apache-2.0
// Values of the forward that are computed again for the backward: not a bit changes, and less is held.
#include <tests/support/compare.h>
#include <tightloop/backends/cpu/plan/forward.h>
#include <tightloop/backends/cpu/plan/layout.h>
#include <tightloop/backends/cpu/plan/recompute.h>
#include <tightloop/engine/program.h>
#include <tightloop/ops/activations.h>
#include <tightloop/ops/attention.h>
#include <tightloop/ops/functions.h>
#include <tightloop/passes/differentiate.h>
#include <tightloop/passes/pipeline.h>

#include <fmt/format.h>
#include <cstring>

namespace tightloop {
namespace {

using What = Recompute::What;

constexpr std::int64_t kSteps = 24, kWidth = 32, kHeads = 2, kBlocks = 6;
const Dim kBatch = Dim::batch();

Tensor normalized(const Tensor& x) {
  const Shape kept{kBatch, kSteps, 1};
  const Tensor m = reshape(mean(x, {2}), kept);
  const Tensor d = x - m;
  return d / sqrt(reshape(mean(d * d, {2}), kept) + 1e-5);
}

/// [B, T, C] → [B, H, T, C/H]
Tensor heads(const Tensor& x) {
  return transpose(reshape(x, {kBatch, kSteps, kHeads, kWidth / kHeads}), 1, 2);
}

/// One step of gradient descent with momentum on residual blocks of attention and a wide part with dropout.
ir::Graph step_graph() {
  ir::Graph g;
  const Tensor x = input("x", "argument", {DType::f32, {kBatch, kSteps, kWidth}});
  const Tensor seed = input("seed", "seed", {DType::i64, {}}), step = input("step", "step", {DType::i64, {}});
  g.inputs = {x, seed, step};
  std::vector<Tensor> weights;
  const auto weight = [&](std::int64_t in, std::int64_t out) {
    weights.push_back(input(fmt::format("w{}", weights.size()), "state", {DType::f32, {in, out}}));
    g.inputs.push_back(weights.back());
    return weights.back();
  };
  Tensor h = x;
  for (std::int64_t b = 0; b < kBlocks; ++b) {
    const ir::Scope block(fmt::format("h.{}", b));
    const Tensor n = normalized(h);
    const Tensor a =
        attention(heads(matmul(n, weight(kWidth, kWidth))), heads(matmul(n, weight(kWidth, kWidth))),
                  heads(matmul(n, weight(kWidth, kWidth))), {.causal = true});
    h = h + matmul(reshape(transpose(a, 1, 2), {kBatch, kSteps, kWidth}), weight(kWidth, kWidth));
    const Tensor wide = gelu(matmul(normalized(h), weight(kWidth, 4 * kWidth)));
    const Tensor keep = random_bernoulli(wide.shape(), 0.8, seed, step, b);
    h = h + matmul(select(keep, wide * 1.25, zeros({}, DType::f32)), weight(4 * kWidth, kWidth));
  }
  const Tensor loss = sum(h * h * 1e-3) / size(kBatch);
  const auto slopes = gradients(loss, weights);
  g.outputs.push_back({"loss", loss});
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string name = fmt::format("m{}", i);
    const Tensor m = input(name, "state", weights[i].type());
    g.inputs.push_back(m);
    const Tensor next = 0.9 * m + slopes[i];
    g.outputs.push_back({name, next});
    g.outputs.push_back({fmt::format("w{}", i), weights[i] - 0.01 * next});
  }
  return g;
}

CompileOptions options(const Recompute& what, int threads = 1) {
  CompileOptions out;
  out.recompute = what;
  out.threads = threads;
  return out;
}

/// All states after three steps.
std::vector<Array> run(const CompileOptions& options, std::int64_t batch) {
  Program program = Program::compile(step_graph(), options);
  program.bind("x", testing::random_array(DType::f32, {batch, kSteps, kWidth}, -1, 1, 5));
  std::uint64_t seed = 0;
  for (const auto& name : program.state_names())
    if (name.starts_with('w')) {
      const auto dims = program.state(name).dims();
      program.set_state(name, testing::random_array(DType::f32, {dims.begin(), dims.end()}, -.2, .2, ++seed));
    }
  for (int i = 0; i < 3; ++i) program.run_once(batch);
  return program.snapshot();
}

const std::vector<Recompute>& ways() {
  static const std::vector<Recompute> all{
      {What::cheap, {}}, {What::blocks, {}}, {What::layers, {"h.0", "h.1", "h.4"}}};
  return all;
}

TEST(RecomputedStep, ChangesNoBit) {
  for (const std::int64_t batch : {3, 40}) {
    const auto plain = run(options({}), batch);
    for (const Recompute& what : ways())
      for (const int threads : {1, 2}) {
        const auto again = run(options(what, threads), batch);
        for (std::size_t i = 0; i < plain.size(); ++i)
          ASSERT_EQ(std::memcmp(plain[i].bytes(), again[i].bytes(), plain[i].size_bytes()), 0)
              << "batch " << batch << ", way " << static_cast<int>(what.what) << ", state " << i;
      }
  }
}

TEST(RecomputedStep, AgreesWithTheInterpreter) {
  CompileOptions plain;
  plain.backend = Backend::reference;
  const auto wanted = run(plain, 5), came = run(options({What::blocks, {}}, 2), 5);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    for (std::int64_t k = 0; k < wanted[i].count(); ++k)
      ASSERT_NEAR(came[i].at(k), wanted[i].at(k), 1e-4) << i << " " << k;
}

TEST(RecomputedStep, HoldsLess) {
  const auto memory = [](const Recompute& what) {
    CompileOptions o = options(what);
    o.code = false;
    return Program::compile(step_graph(), o).memory({256, 256});
  };
  const MemoryReport plain = memory({}), cheap = memory({What::cheap, {}}),
                     blocks = memory({What::blocks, {}});
  EXPECT_EQ(plain.recomputed, 0);
  EXPECT_LT(cheap.temporaries, plain.temporaries * 9 / 10);
  EXPECT_LT(cheap.recomputed, 0.05);
  EXPECT_LT(blocks.temporaries, plain.temporaries / 2);
  EXPECT_GT(blocks.recomputed, cheap.recomputed);
  EXPECT_LT(blocks.recomputed, 0.5);  // a forward is a third of a step
}

TEST(RecomputedStep, LeavesAGraphWithoutBackwardAlone) {
  ir::Graph g;
  const Tensor x = input("x", "argument", {DType::f32, {kBatch, 8}});
  g.inputs = {x};
  g.outputs = {{"loss", sum(tanh(x))}};
  EXPECT_TRUE(backends::cpu::recompute(g, {What::blocks, {}}).waits.empty());
  EXPECT_EQ(Program::compile(g, options({What::cheap, {}})).memory({8, 8}).recomputed, 0);
}

TEST(RecomputedStep, ComesAfterWhatItWaitsFor) {
  const ir::Graph g = backends::cpu::prepare(ir::run_passes(step_graph(), passes::pipeline()).graph);
  for (const Recompute& what : ways()) {
    const backends::cpu::Recomputed step = backends::cpu::recompute(g, what);
    ASSERT_FALSE(step.waits.empty());
    std::unordered_map<const ir::Node*, std::size_t> at;
    for (const ir::Node* n : backends::cpu::in_order(step.graph, step.waits)) at.emplace(n, at.size());
    for (const auto& [again, arrival] : step.waits) EXPECT_LT(at.at(arrival), at.at(again));
  }
}

TEST(PlannedProgram, DoesNotRun) {
  CompileOptions o;
  o.code = false;
  Program program = Program::compile(step_graph(), o);
  program.bind("x", Array(DType::f32, {2, kSteps, kWidth}));
  EXPECT_GT(program.memory({2, 2}).temporaries, 0U);
  EXPECT_THROW(program.run_once(2), InternalError);
}

/// Temporaries share memory as well as can be, or nearly.
TEST(Layout, IsNearTheLeastThatAnyTakes) {
  const ir::Graph g = backends::cpu::prepare(ir::run_passes(step_graph(), passes::pipeline()).graph);
  for (const Recompute& what : ways()) {
    const auto plan = backends::cpu::make_plan(backends::cpu::recompute(g, what));
    const std::size_t least = live_bytes(plan, {256, 256}), taken = lay_out(plan, {256, 256}).bytes;
    EXPECT_GE(taken, least);
    EXPECT_LE(taken, least + least / 10);
  }
}

}  // namespace
}  // namespace tightloop
