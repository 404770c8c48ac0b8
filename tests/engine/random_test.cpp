// SPDX-License-Identifier: Apache-2.0
// Random graphs, compiled and interpreted.
#include <gtest/gtest.h>
#include <tests/support/random_graph.h>
#include <tightloop/backends/reference/interpret.h>
#include <tightloop/engine/program.h>

namespace tightloop {
namespace {

std::vector<Array> compiled(const testing::RandomGraph& r, int threads) {
  CompileOptions options;
  options.threads = threads;
  options.disk_cache = false;
  options.passes.verify = true;
  Program p = Program::compile(r.graph, options);
  for (std::size_t i = 0; i < r.inputs.size(); ++i)
    p.bind(ir::input_name(r.graph.inputs[i].node()), r.inputs[i]);
  p.run_once(r.sizes.batch);
  std::vector<Array> out;
  for (const auto& o : r.graph.outputs) out.push_back(p.result(o.name).clone());
  return out;
}

/// A part of 2,000 graphs: every fourth from `first`.
class CompiledAgrees : public ::testing::TestWithParam<int> {};

TEST_P(CompiledAgrees, WithTheInterpreter) {
  for (std::uint64_t seed = static_cast<std::uint64_t>(GetParam()); seed < 2000; seed += 4) {
    const auto r = testing::random_graph(
        seed,
        {.ops = 6 + static_cast<int>(seed % 13), .gradients = seed % 3 == 1, .specials = seed % 7 == 2});
    const auto wanted = backends::interpret(r.graph, r.inputs, {.sizes = r.sizes});
    const auto precise = backends::interpret(r.graph, r.inputs, {.sizes = r.sizes, .precise = true});
    const auto one = compiled(r, 1);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_EQ(testing::difference(one[i], wanted[i], precise[i]), "")
          << "seed " << seed << ", output " << i << ", B = " << r.sizes.batch << "\n"
          << ir::print(r.graph);
    if (seed % 8 != 0) continue;
    const auto two = compiled(r, 2);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_TRUE(identical(one[i], two[i])) << "threads, seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Quarters, CompiledAgrees, ::testing::Range(0, 4));

}  // namespace
}  // namespace tightloop
