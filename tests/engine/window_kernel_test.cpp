// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling inside compiled graphs: whoever computes them, and however many threads.
#include <tests/support/compare.h>
#include <tightloop/backends/cpu/plan/schedule.h>
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/functions_spatial.h>
#include <tightloop/ops/index.h>
#include <tightloop/passes/differentiate.h>

namespace tightloop {
namespace {

using backends::cpu::is_library_convolution;
using testing::random_array;

/// Input, weights of two convolutions; outputs: loss and its gradients.
struct Net {
  ir::Graph graph;
  std::vector<std::vector<std::int64_t>> weights;
  Shape image;

  std::vector<Array> inputs(std::int64_t batch) const {
    std::vector<Array> out{random_array(DType::f32, image.values({batch, batch}), -1, 1, 1)};
    for (const auto& w : weights) out.push_back(random_array(DType::f32, w, -0.2, 0.2, out.size() + 1));
    return out;
  }
};

Net net_of(const Shape& image, std::vector<std::vector<std::int64_t>> weights, std::int64_t groups) {
  Net net{{}, std::move(weights), image};
  const Tensor x = input("x", "argument", {DType::f32, image});
  std::vector<Tensor> w;
  for (const auto& dims : net.weights)
    w.push_back(input("w" + std::to_string(w.size()), "argument",
                      {DType::f32, Shape(std::vector<Dim>(dims.begin(), dims.end()))}));
  const Tensor h = max_pool(tanh(convolution(x, w[0], {.padding = 1})), {.kernel = 2});
  const Tensor y = convolution(h, w[1], {.stride = 2, .padding = 1, .groups = groups});
  const Tensor loss = sum(square(adaptive_avg_pool(y, 3)));
  const auto slopes = gradients(loss, {x, w[0], w[1]});
  net.graph = {
      "net", {x, w[0], w[1]}, {{"loss", loss}, {"dx", slopes[0]}, {"dw0", slopes[1]}, {"dw1", slopes[2]}}};
  return net;
}

int library_kernels(const ir::Graph& graph) {
  const ir::Graph prepared = backends::cpu::prepare(graph);
  const backends::cpu::Schedule schedule = backends::cpu::make_schedule(prepared);
  int n = 0;
  for (const auto& k : schedule.kernels)
    n += k.kind == backends::cpu::KernelKind::window && is_library_convolution(*k.roots[0]);
  return n;
}

void check(const Net& net, std::initializer_list<std::int64_t> batches) {
  testing::Compiled one(net.graph, 1), two(net.graph, 2), five(net.graph, 5);
  for (const std::int64_t batch : batches) {
    SCOPED_TRACE(batch);
    const Sizes sizes{batch, batch};
    const auto inputs = net.inputs(batch);
    const auto got = one.run(inputs, sizes, 0, 0);
    testing::expect_same(net.graph, got, backends::interpret(net.graph, inputs, {.sizes = sizes}),
                         {1e-4, 1e-5});
    for (testing::Compiled* other : {&two, &five}) {
      const auto again = other->run(inputs, sizes, 0, 0);
      for (std::size_t o = 0; o < got.size(); ++o) EXPECT_TRUE(identical(got[o], again[o])) << "output " << o;
    }
    const auto repeated = one.run(inputs, sizes, 0, 0);
    for (std::size_t o = 0; o < got.size(); ++o)
      EXPECT_TRUE(identical(got[o], repeated[o])) << "output " << o;
  }
}

TEST(WindowKernels, OfTheLibraryAgreeWithTheInterpreterForAnyBatchAndThreads) {
  const Net net = net_of({Dim::batch(), 3, 20, 18}, {{20, 3, 3, 3}, {12, 20, 3, 3}}, 1);
  EXPECT_EQ(library_kernels(net.graph), 6);
  check(net, {1, 3, 40, 17});
}

TEST(WindowKernels, OfTheirOwnLoopsAgreeWithTheInterpreterForAnyBatchAndThreads) {
  const Net net = net_of({Dim::batch(), 1, 12, 70}, {{4, 1, 3, 3}, {4, 1, 3, 3}}, 4);
  EXPECT_EQ(library_kernels(net.graph), 0);
  check(net, {1, 3, 40, 17});
}

TEST(WindowKernels, ReadReshapedValuesAndUpdateStatesInPlace) {
  const Tensor x = input("x", "argument", {DType::f32, {Dim::batch(), 8, 16}});
  const Tensor w = input("w", "state", {DType::f32, {2, 1, 3, 3}});
  const Tensor y = convolution(reshape(square(x), {Dim::batch(), 1, 8, 16}), w);
  const auto slope = gradients(sum(square(y)), {w})[0];
  const ir::Graph g{"step", {x, w}, {{"y", y}, {"w", w - 0.01 * slope}}};
  testing::Compiled compiled(g, 2);
  for (const std::int64_t batch : {1, 5, 64}) {
    const std::vector<Array> inputs{random_array(DType::f32, {batch, 8, 16}, -1, 1, 1),
                                    random_array(DType::f32, {2, 1, 3, 3}, -1, 1, 2)};
    testing::expect_same(g, compiled.run(inputs, {batch, batch}, 0, 0),
                         backends::interpret(g, inputs, {.sizes = {batch, batch}}), {1e-4, 1e-5});
  }
}

TEST(WindowKernels, LetNaNAndInfinityThrough) {
  const Tensor x = input("x", "argument", {DType::f32, {Dim::batch(), 1, 6, 7}});
  const Tensor y = max_pool(x, {.kernel = 3, .stride = 2, .padding = 1});
  const ir::Graph g{"pool", {x}, {{"y", y}, {"dx", gradients(sum(square(y)), {x})[0]}}};
  Array values = random_array(DType::f32, {3, 1, 6, 7}, -1, 1, 1);
  values.set(5, NAN);
  values.set(50, INFINITY);
  for (std::int64_t i = 84; i < 126; ++i) values.set(i, -INFINITY);
  testing::Compiled compiled(g, 1);
  const auto got = compiled.run({values}, {3, 3}, 0, 0);
  const auto want = backends::interpret(g, {values}, {.sizes = {3, 3}});
  EXPECT_TRUE(std::isnan(got[0].at(2)));
  EXPECT_EQ(got[0].at(30), -INFINITY);
  testing::expect_same(g, got, want, {});
}

}  // namespace
}  // namespace tightloop
