// SPDX-License-Identifier: Apache-2.0
// Planes of images become rows between convolutions, and stay apart where something needs height or width
// alone.
#include <tests/support/compare.h>
#include <tightloop/backends/cpu/plan/merge_dims.h>
#include <tightloop/backends/cpu/plan/plan.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/functions_spatial.h>
#include <tightloop/ops/index.h>
#include <tightloop/passes/differentiate.h>
#include <tightloop/passes/pipeline.h>

namespace tightloop {
namespace {

const Dim kBatch = Dim::batch();

Tensor argument(const char* name, Shape shape) {
  return input(name, "argument", {DType::f32, std::move(shape)});
}

/// Convolution, norm by the batch's statistics, ReLU, shortcut, pooling, a second convolution; their
/// gradients.
ir::Graph network(bool with_rows) {
  ir::Graph g;
  const Tensor x = argument("x", {kBatch, 4, 5, 7}), w = argument("w", {4, 4, 3, 3}),
               v = argument("v", {2, 4, 1, 1});
  const Tensor scale = argument("scale", {4});
  g.inputs = {x, w, v, scale};
  const Tensor h = convolution(x, w, {.padding = 1});
  const Tensor centred = h - mean(h, {0, 2, 3}, true);
  Tensor y =
      relu(centred * rsqrt(mean(centred * centred, {0, 2, 3}, true) + 1e-5) * reshape(scale, {4, 1, 1})) + x;
  if (with_rows) y = y * sum(y, {3}, true);
  const Tensor out = convolution(max_pool(y, {.kernel = 2}), v);
  const Tensor loss = sum(out * out);
  const auto gradient = gradients(loss, {x, w, v, scale});
  g.outputs = {{"loss", loss}, {"y", y}};
  for (std::size_t i = 0; i < gradient.size(); ++i)
    g.outputs.push_back({"g" + std::to_string(i), gradient[i]});
  return ir::run_passes(g, passes::pipeline()).graph;
}

int kernels_over_planes(const ir::Graph& g) {
  int count = 0;
  for (const auto& k : backends::cpu::make_plan(backends::cpu::prepare(g)).schedule.kernels) {
    const bool loops =
        k.kind == backends::cpu::KernelKind::elementwise || k.kind == backends::cpu::KernelKind::reduce;
    count += loops && k.domain.size() == 4 && k.domain[0] == kBatch ? 1 : 0;
  }
  return count;
}

class MergeDims : public ::testing::TestWithParam<bool> {};

TEST_P(MergeDims, KeepsTheMeaning) {
  const ir::Graph g = network(GetParam());
  testing::Compiled one(g, 1), three(g, 3), narrow(g, 1, 16);
  for (const std::int64_t batch : {1, 3, 70}) {
    const Sizes sizes{batch, 1};
    std::vector<Array> inputs;
    for (const Tensor& t : g.inputs)
      inputs.push_back(testing::random_array(DType::f32, t.shape().values(sizes), -1, 1, inputs.size() + 1));
    const auto want = backends::interpret(g, inputs, {.sizes = sizes});
    for (testing::Compiled* c : {&one, &three, &narrow})
      testing::expect_same(g, c->run(inputs, sizes, 0, 0), want, {2e-3, 2e-3});
  }
}

INSTANTIATE_TEST_SUITE_P(WithAndWithoutRows, MergeDims, ::testing::Bool());

TEST(MergeDims, WalksPlanesAsRows) {
  ir::Graph g = network(false);
  std::erase_if(g.outputs, [](const auto& o) { return o.name == "y" || o.name == "g0"; });
  EXPECT_EQ(kernels_over_planes(g), 0);
  EXPECT_GT(kernels_over_planes(network(true)), 0);
}

TEST(MergeDims, LeavesOtherGraphsAlone) {
  ir::Graph g;
  const Tensor x = argument("x", {kBatch, 4, 5});
  g.inputs = {x};
  g.outputs = {{"y", exp(x) * 2.0}};
  EXPECT_EQ(ir::print(backends::cpu::merge_dims(g)), ir::print(g));
}

}  // namespace
}  // namespace tightloop
