// SPDX-License-Identifier: Apache-2.0
// Steps of a recurrence: their kernels share functions, their gradients are merged, and what they join lies
// in place.
#include <tests/support/compare.h>
#include <tightloop/backends/cpu/codegen/alike.h>
#include <tightloop/backends/cpu/plan/assembly.h>
#include <tightloop/backends/cpu/plan/plan.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/passes/differentiate.h>
#include <tightloop/passes/pipeline.h>

#include <set>

namespace tightloop {
namespace {

const Dim kBatch = Dim::batch();

Tensor argument(const char* name, Shape shape) {
  return input(name, "argument", {DType::f32, std::move(shape)});
}

/// One step of gradient descent on a recurrence over `steps` of `width` values, its states joined and
/// squared.
ir::Graph recurrence(std::int64_t steps, std::int64_t width) {
  ir::Graph g;
  const Tensor x = argument("x", {kBatch, steps, width}), h0 = argument("h0", {kBatch, width});
  const Tensor w = input("w", "state", {DType::f32, {width, width}});
  const Tensor b = input("b", "state", {DType::f32, {width}});
  g.inputs = {x, h0, w, b};
  Tensor h = h0;
  std::vector<Tensor> states;
  for (std::int64_t t = 0; t < steps; ++t) {
    const Tensor here = reshape(slice(x, 1, t, t + 1), {kBatch, width});
    h = tanh(matmul(h, w) + here + b);
    states.push_back(reshape(h, {kBatch, 1, width}));
  }
  const Tensor all = concat(states, 1);
  const Tensor loss = sum(all * all) / size(kBatch);
  const auto gradient = gradients(loss, {w, b, x});
  g.outputs = {
      {"loss", loss}, {"w", w - 0.1 * gradient[0]}, {"b", b - 0.1 * gradient[1]}, {"dx", gradient[2]}};
  return ir::run_passes(g, passes::pipeline()).graph;
}

backends::cpu::Plan plan_of(const ir::Graph& g) {
  return backends::cpu::make_plan(backends::cpu::prepare(g));
}

std::size_t functions(const backends::cpu::Plan& plan) {
  const auto alike = backends::cpu::find_alike(plan);
  return std::set<std::size_t>(alike.model.begin(), alike.model.end()).size();
}

std::size_t assemblies(const backends::cpu::Plan& plan) {
  std::size_t count = 0;
  for (const auto& k : plan.schedule.kernels) count += k.kind == backends::cpu::KernelKind::assembly ? 1 : 0;
  return count;
}

TEST(Recurrence, MoreStepsNeedNoMoreCode) {
  const auto few = plan_of(recurrence(9, 32)), many = plan_of(recurrence(40, 32));
  EXPECT_GT(many.schedule.kernels.size(), 2 * few.schedule.kernels.size());
  EXPECT_EQ(functions(many) - assemblies(many), functions(few) - assemblies(few));
}

TEST(Recurrence, ItsWeightHasOneGradient) {
  std::size_t products = 0;
  const ir::Graph g = recurrence(12, 32);
  for (const ir::Node* n : ir::topological(g))
    products += n->op == &ops::matmul_op() && n->attrs.get<bool>("transpose_a", false) ? 1 : 0;
  EXPECT_EQ(products, 1U);
}

class RecurrenceStep : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(RecurrenceStep, AgreesWithTheInterpreterForEveryBatchAndTeam) {
  const auto [steps, width] = GetParam();
  const ir::Graph g = recurrence(steps, width);
  testing::Compiled one(g, 1), two(g, 2), five(g, 5), narrow(g, 2, 32), narrowest(g, 1, 16);
  for (const std::int64_t batch : {1, 17, 64, 65, 300}) {
    const Sizes sizes{batch, 1};
    std::vector<Array> inputs;
    for (std::size_t i = 0; i < g.inputs.size(); ++i)
      inputs.push_back(
          testing::random_array(DType::f32, g.inputs[i].shape().values(sizes), -0.3, 0.3, i + 1));
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

INSTANTIATE_TEST_SUITE_P(Nets, RecurrenceStep,
                         ::testing::Values(std::pair{6, 32}, std::pair{5, 17}, std::pair{4, 1},
                                           std::pair{2, 3}));

/// Joins along each axis, of parts that are inputs, computed, constant, reduced, and of another join.
TEST(Assembly, TakesPartsOfEveryKind) {
  const Tensor x = argument("x", {kBatch, 5, 3}), y = argument("y", {kBatch, 4, 3}),
               z = argument("z", {7, 9});
  ir::Graph g;
  g.inputs = {x, y, z};
  const Tensor rows = concat({x, tanh(y), zeros({kBatch, 2, 3}), sum(x, {1}, true)}, 1);
  const Tensor columns =
      concat({rows, matmul(rows, slice(slice(z, 0, 0, 3), 1, 0, 6)), sum(rows, {2}, true)}, 2);
  const Tensor plain = concat({z, z * 2.0, reshape(amax(z, {0}), {1, 9})}, 0);
  g.outputs = {{"rows", rows}, {"columns", exp(columns)}, {"plain", plain}, {"again", plain}};
  const auto plan = plan_of(g);
  EXPECT_EQ(assemblies(plan), 3U);
  testing::Compiled one(g, 1), three(g, 3), narrow(g, 1, 32), narrowest(g, 2, 16);
  for (const std::int64_t batch : {1, 3, 64, 130}) {
    const Sizes sizes{batch, 1};
    std::vector<Array> inputs;
    for (const Tensor& t : g.inputs)
      inputs.push_back(testing::random_array(DType::f32, t.shape().values(sizes), -1, 1, inputs.size() + 1));
    const auto want = backends::interpret(g, inputs, {.sizes = sizes});
    for (testing::Compiled* c : {&one, &three, &narrow, &narrowest})
      testing::expect_same(g, c->run(inputs, sizes, 0, 0), want, {1e-5, 1e-6});
  }
}

/// A state whose new value joins pieces of its old one: nothing may be overwritten before it was read.
TEST(Assembly, RotatesAState) {
  const Tensor s = input("s", "state", {DType::f32, {64}});
  ir::Graph g;
  g.inputs = {s};
  g.outputs = {{"s", concat({slice(s, 0, 1, 64), slice(s, 0, 0, 1)}, 0)}};
  testing::Compiled one(g, 1), two(g, 2);
  const std::vector<Array> inputs{testing::random_array(DType::f32, {64}, -1, 1, 1)};
  const auto want = backends::interpret(g, inputs, {.sizes = {1, 1}});
  testing::expect_same(g, one.run(inputs, {1, 1}, 0, 0), want, {});
  testing::expect_same(g, two.run(inputs, {1, 1}, 0, 0), want, {});
}

}  // namespace
}  // namespace tightloop
