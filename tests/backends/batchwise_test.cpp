// SPDX-License-Identifier: Apache-2.0
// The batch as the axis of parallel work: what counts as batchwise, how kernels fall into phases, and that
// steps come out the same for batches of one stretch, of several groups, and of several stretches a group.
#include <tests/support/compare.h>
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/backends/cpu/plan/phases.h>
#include <tightloop/backends/cpu/plan/plan.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

namespace tightloop {
namespace {

using backends::cpu::Kernel;
using backends::cpu::KernelKind;

const Dim kBatch = Dim::batch();

Tensor argument(const char* name, Shape shape, DType dtype = DType::f32) {
  return input(name, "argument", {dtype, std::move(shape)});
}
Tensor state(const char* name, Shape shape, DType dtype = DType::f32) {
  return input(name, "state", {dtype, std::move(shape)});
}

Tensor product(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  ir::Attrs attrs;
  if (transpose_a) attrs.set("transpose_a", true);
  if (transpose_b) attrs.set("transpose_b", true);
  return ir::make_node(ops::matmul_op(), {a, b}, std::move(attrs));
}

/// A step of gradient descent on `inputs`-`hidden`-3 with tanh, mean squared error, its gradients written
/// out.
ir::Graph training_step(std::int64_t inputs, std::int64_t hidden, DType dtype) {
  ir::Graph g;
  const Tensor x = argument("x", {kBatch, inputs}, dtype), t = argument("t", {kBatch, 3}, dtype);
  const Tensor w1 = state("w1", {hidden, inputs}, dtype), b1 = state("b1", {hidden}, dtype);
  const Tensor w2 = state("w2", {3, hidden}, dtype);
  g.inputs = {x, t, w1, b1, w2};
  const Tensor h = tanh(product(x, w1, false, true) + b1);
  const Tensor error = product(h, w2, false, true) - t;
  const Tensor g2 = product(error, h, true, false);
  const Tensor gh = product(error, w2, false, false) * (1.0 - h * h);
  const Tensor g1 = product(gh, x, true, false);
  const Tensor rate = 0.01 / size(kBatch, dtype);
  g.outputs = {{"loss", sum(error * error) / size(kBatch, dtype)},
               {"w1", w1 - g1 * rate},
               {"b1", b1 - sum(gh, {0}) * rate},
               {"w2", w2 - g2 * rate}};
  return g;
}

std::vector<Array> values_for(const ir::Graph& g, const Sizes& sizes) {
  std::vector<Array> inputs;
  for (std::size_t i = 0; i < g.inputs.size(); ++i)
    inputs.push_back(
        testing::random_array(g.inputs[i].dtype(), g.inputs[i].shape().values(sizes), -0.3, 0.3, i + 1));
  return inputs;
}

struct Case {
  std::int64_t inputs, hidden;
  DType dtype;
};

class BatchwiseStep : public ::testing::TestWithParam<Case> {};

TEST_P(BatchwiseStep, AgreesWithTheInterpreterForEveryBatchAndTeam) {
  const Case& c = GetParam();
  const ir::Graph g = training_step(c.inputs, c.hidden, c.dtype);
  testing::Compiled one(g, 1), two(g, 2), five(g, 5), narrow(g, 3, 32), narrowest(g, 2, 16);
  for (const std::int64_t batch : {1, 63, 64, 65, 200, 1024, 1025, 2500}) {
    const Sizes sizes{batch, 1};
    const auto inputs = values_for(g, sizes);
    const auto want = backends::interpret(g, inputs, {.sizes = sizes});
    const auto got = one.run(inputs, sizes, 0, 0);
    testing::expect_same(g, got, want, {2e-4, 2e-5});
    testing::expect_same(g, narrow.run(inputs, sizes, 0, 0), want, {2e-4, 2e-5});
    testing::expect_same(g, narrowest.run(inputs, sizes, 0, 0), want, {2e-4, 2e-5});
    for (testing::Compiled* team : {&two, &five}) {
      const auto again = team->run(inputs, sizes, 0, 0);
      for (std::size_t o = 0; o < got.size(); ++o)
        EXPECT_TRUE(identical(got[o], again[o])) << batch << " " << o;
    }
    if (HasFatalFailure()) return;
  }
}

// Sides that fill tiles and that do not; sums kept by group and, for the last, shared out by rows.
INSTANTIATE_TEST_SUITE_P(Nets, BatchwiseStep,
                         ::testing::Values(Case{40, 32, DType::f32}, Case{7, 5, DType::f32},
                                           Case{1, 17, DType::f32}, Case{33, 130, DType::f64},
                                           Case{300, 257, DType::f32}));

TEST(BatchGroups, DependOnTheBatchAlone) {
  const auto groups_of = [](std::int64_t batch) { return backends::cpu::groups_of(batch, 64); };
  EXPECT_EQ(groups_of(1).count, 1);
  EXPECT_EQ(groups_of(64).count, 1);
  EXPECT_EQ(groups_of(65).count, 2);
  EXPECT_EQ(groups_of(1024).count, 16);
  EXPECT_EQ(groups_of(1024).rows, 64);
  EXPECT_EQ(groups_of(1025).rows, 128);
  for (std::int64_t batch = 1; batch < 5000; ++batch) {
    const auto groups = groups_of(batch);
    EXPECT_GE(groups.count * groups.rows, batch);
    EXPECT_LT((groups.count - 1) * groups.rows, batch);
    EXPECT_LE(groups.count, backends::cpu::most_groups(batch, 64));
  }
}

/// Of the graph with these outputs.
backends::cpu::Plan plan_of(const std::vector<Tensor>& outputs) {
  ir::Graph g;
  std::unordered_map<const ir::Node*, Tensor> handles;
  for (const ir::Node* n : ir::topological(outputs))
    for (const Tensor& t : n->inputs) handles.emplace(t.id(), t);
  for (const ir::Node* n : ir::topological(outputs))
    if (n->op->name == "input") g.inputs.push_back(handles.at(n));
  for (std::size_t i = 0; i < outputs.size(); ++i) g.outputs.push_back({"y" + std::to_string(i), outputs[i]});
  return backends::cpu::make_plan(backends::cpu::prepare(g));
}

TEST(BatchGroups, AreSmallerWhereASampleUsesItsWeightsOften) {
  const Tensor w = argument("w", {8, 8});
  const auto rows = [&](std::int64_t places) {
    return plan_of({matmul(argument("x", {kBatch, places, 8}), w)}).stretch;
  };
  EXPECT_EQ(rows(1), backends::cpu::kLongStretch);
  EXPECT_EQ(rows(50), backends::cpu::kShortStretch);
}

int whole_kernels(const backends::cpu::Plan& plan) {
  int count = 0;
  for (const Kernel& k : plan.schedule.kernels) count += k.batchwise ? 0 : 1;
  return count;
}

TEST(Batchwise, AForwardPassIsOneChain) {
  const Tensor x = argument("x", {kBatch, 8});
  const Tensor h = tanh(matmul(x, argument("w", {8, 16})));
  const auto plan = plan_of({softmax(matmul(h, argument("v", {16, 3})), 1)});
  EXPECT_EQ(whole_kernels(plan), 0);
  EXPECT_EQ(plan.schedule.phases.size(), 1U);
}

TEST(Batchwise, ChainsKeepOnlyAStretchOfTheirValues) {
  const Tensor x = argument("x", {kBatch, 512});
  const Tensor h = tanh(matmul(x, argument("w", {512, 512})));
  const auto plan = plan_of({matmul(h, argument("v", {512, 500}))});
  const auto few = lay_out(plan, {64, 1}), many = lay_out(plan, {1 << 20, 1});
  EXPECT_EQ(few.bytes, many.bytes);
  EXPECT_EQ(few.local_bytes, many.local_bytes);
  EXPECT_GE(few.local_bytes, 64U * 512 * 4);
}

TEST(Batchwise, ASumOverTheBatchIsGroupedWhereItsResultIsSmall) {
  const Tensor x = argument("x", {kBatch, 100});
  EXPECT_EQ(whole_kernels(plan_of({sum(x, {0})})), 1) << "only the sum over the groups";
  const Tensor wide = argument("x", {kBatch, 100000});
  EXPECT_FALSE(plan_of({sum(wide, {0})}).schedule.kernels[0].batchwise);
}

TEST(Batchwise, WhatMixesSamplesIsNot) {
  const Tensor x = argument("x", {kBatch, 4});
  EXPECT_GT(whole_kernels(plan_of({transpose(x, 0, 1)})), 0);
  EXPECT_GT(whole_kernels(plan_of({amax(x, {0})})), 0);
  EXPECT_GT(whole_kernels(plan_of({gather(x, argument("rows", {kBatch}, DType::i64))})), 0);
}

TEST(Phases, WhatNeedsNothingOfAPhaseRunsInIt) {
  const auto kernel = [](bool batchwise) {
    Kernel k;
    k.batchwise = batchwise;
    return k;
  };
  // 0 prepares weights; 1 → 2 is a chain that reads them; 3 sums; 4 needs nothing.
  const std::vector<Kernel> kernels{kernel(false), kernel(true), kernel(true), kernel(false), kernel(false)};
  backends::cpu::Depends depends;
  for (std::size_t k = 0; k < kernels.size(); ++k) depends.add_kernel();
  for (const auto& [k, on] : {std::pair{2, 0}, {2, 1}, {3, 2}})
    depends.add(static_cast<std::size_t>(k), static_cast<std::size_t>(on));
  EXPECT_TRUE(depends.waits(3, 0)) << "through 2";
  const auto order = backends::cpu::order_in_phases(kernels, depends);
  ASSERT_EQ(order.phases.size(), 3U);
  EXPECT_EQ(order.kernels, (std::vector<int>{0, 4, 1, 2, 3}));
  EXPECT_EQ(order.phases[0].whole, 0);
  EXPECT_EQ(order.phases[1].first, 2);
  EXPECT_EQ(order.phases[1].whole, 4);
  EXPECT_EQ(order.phases[2].last, 5);
}

TEST(Phases, AStateReadInThePhaseThatWritesItIsSetAside) {
  // b reads the old a while a is being replaced.
  const Tensor a = state("a", {1000}), b = state("b", {2000});
  ir::Graph g;
  g.inputs = {a, b};
  g.outputs = {{"a", a * 2.0}, {"b", b + concat({a, a}, 0)}};
  testing::Compiled one(g, 1), five(g, 5);
  const auto inputs = values_for(g, {1, 1});
  const auto want = backends::interpret(g, inputs, {.sizes = {1, 1}});
  testing::expect_same(g, one.run(inputs, {1, 1}, 0, 0), want, {});
  for (int i = 0; i < 50; ++i) testing::expect_same(g, five.run(inputs, {1, 1}, 0, 0), want, {});
}

}  // namespace
}  // namespace tightloop
