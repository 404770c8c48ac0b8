// SPDX-License-Identifier: Apache-2.0
// Matrix products large enough for the library, inside a compiled graph.
#include <tests/support/compare.h>
#include <tightloop/backends/cpu/plan/schedule.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

namespace tightloop {
namespace {

TEST(LibraryKernel, ForwardAndBothGradientsAgreeWithTheInterpreterForAnyBatchAndThreads) {
  const ir::Graph g = ir::parse(R"(graph big {
  %0: f32[B, 1030] = input() {name="x", role="argument"}
  %1: f32[520, 1030] = input() {name="w", role="argument"}
  %2: f32[B, 520] = matmul(%0, %1) {transpose_b=true}
  %3: f32[B, 520] = tanh(%2)
  %4: f32[520, 1030] = matmul(%3, %0) {transpose_a=true}
  %5: f32[B, 1030] = matmul(%3, %1)
  return y=%3, dw=%4, dx=%5
})",
                                [](std::string_view name) { return ops::find_op(name); });
  EXPECT_TRUE(backends::cpu::goes_to_library(g.output("dx")->value.id()));
  testing::Compiled one(g, 1);
  testing::Compiled two(g, 2);
  for (const std::int64_t batch : {1, 17, 130}) {
    const Sizes sizes{batch, batch};
    const std::vector<Array> inputs{testing::random_array(DType::f32, {batch, 1030}, -1, 1, 1),
                                    testing::random_array(DType::f32, {520, 1030}, -0.1, 0.1, 2)};
    const auto got = one.run(inputs, sizes, 0, 0);
    testing::expect_same(g, got, backends::interpret(g, inputs, {.sizes = sizes}), {1e-4, 1e-5});
    const auto again = two.run(inputs, sizes, 0, 0);
    for (std::size_t o = 0; o < got.size(); ++o) EXPECT_TRUE(identical(got[o], again[o]));
  }
}

TEST(LibraryKernel, SumsOverTheRowsOfSequencesGoThereWithSmallerWeights) {
  const ir::Graph g = ir::parse(R"(graph sequence {
  %0: f32[50B, 128] = input() {name="x", role="argument"}
  %1: f32[50B, 272] = input() {name="slope", role="argument"}
  %2: f32[128, 272] = matmul(%0, %1) {transpose_a=true}
  %3: f32[128, 272] = input() {name="w", role="argument"}
  %4: f32[128, 272] = sub(%3, %2)
  return next=%4
})",
                                [](std::string_view name) { return ops::find_op(name); });
  EXPECT_TRUE(backends::cpu::goes_to_library(g.output("next")->value.node().inputs[1].id()));
  testing::Compiled one(g, 1), two(g, 2);
  for (const std::int64_t batch : {1, 9}) {
    const Sizes sizes{batch, batch};
    const std::vector<Array> inputs{testing::random_array(DType::f32, {50 * batch, 128}, -1, 1, 1),
                                    testing::random_array(DType::f32, {50 * batch, 272}, -1, 1, 2),
                                    testing::random_array(DType::f32, {128, 272}, -1, 1, 3)};
    const auto got = one.run(inputs, sizes, 0, 0);
    testing::expect_same(g, got, backends::interpret(g, inputs, {.sizes = sizes}), {1e-4, 1e-5});
    EXPECT_TRUE(identical(got[0], two.run(inputs, sizes, 0, 0)[0]));
  }
}

TEST(Explain, GivesTheCodeOfEveryGeneratedKernel) {
  const ir::Graph g = ir::parse(R"(graph two {
  %0: f32[B, 8] = input() {name="x", role="argument"}
  %1: f32[8, 8] = input() {name="w", role="argument"}
  %2: f32[B, 8] = matmul(%0, %1)
  %3: f32[8] = reduce_sum(%2) {axes=[0]}
  return y=%3
})",
                                [](std::string_view name) { return ops::find_op(name); });
  const std::string text = backends::cpu::explain_cpu(g);
  EXPECT_NE(text.find("@kernel0("), std::string::npos);
  EXPECT_NE(text.find("@kernel1("), std::string::npos);
  EXPECT_NE(text.find("@tile_f32"), std::string::npos);
}

}  // namespace
}  // namespace tightloop
