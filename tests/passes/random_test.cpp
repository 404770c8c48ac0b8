// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tests/support/random_graph.h>
#include <tightloop/backends/reference/interpret.h>
#include <tightloop/ops/index.h>
#include <tightloop/passes/index.h>
#include <tightloop/passes/pipeline.h>

namespace tightloop {
namespace {

using backends::interpret;

void expect_same_meaning(const testing::RandomGraph& r, const ir::Graph& changed, const std::string& what) {
  const auto wanted = interpret(r.graph, r.inputs, {.sizes = r.sizes});
  const auto precise = interpret(r.graph, r.inputs, {.sizes = r.sizes, .precise = true});
  const auto got = interpret(changed, r.inputs, {.sizes = r.sizes});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string found = testing::difference(got[i], wanted[i], precise[i]);
    ASSERT_EQ(found, "") << what << ", output " << i << "\n"
                         << ir::print(r.graph) << "became\n"
                         << ir::print(changed);
  }
}

testing::RandomGraph numbered(std::uint64_t seed) {
  return testing::random_graph(seed, {.gradients = seed % 2 == 1, .specials = seed % 5 == 2});
}

TEST(RandomGraphs, EachPassKeepsTheMeaning) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto r = numbered(seed);
    for (const ir::Pass& pass : passes::all_passes()) {
      const ir::Graph changed = pass.run(r.graph);
      ASSERT_NO_THROW(ir::verify(changed)) << pass.name;
      expect_same_meaning(r, changed, std::string(pass.name) + " seed " + std::to_string(seed));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RandomGraphs, ThePipelineKeepsTheMeaning) {
  ir::PassOptions options;
  options.verify = true;
  for (std::uint64_t seed = 1000; seed < 1300; ++seed) {
    const auto r = numbered(seed);
    expect_same_meaning(r, ir::run_passes(r.graph, passes::pipeline(), options).graph,
                        "seed " + std::to_string(seed));
    if (HasFatalFailure()) return;
  }
}

TEST(RandomGraphs, PrintAndParseRoundTrip) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string text = ir::print(numbered(seed).graph);
    ASSERT_EQ(ir::print(ir::parse(text, ops::find_op)), text);
  }
}

TEST(RandomGraphs, TheComparisonSeesAWrongElement) {
  const Array wanted = Array::of<float>({3}, {1, -2, 100});
  Array got = wanted.clone();
  EXPECT_EQ(testing::difference(got, wanted, wanted.cast(DType::f64)), "");
  got.set(1, -2.01);
  EXPECT_NE(testing::difference(got, wanted, wanted.cast(DType::f64)), "");
  got.set(1, std::nan(""));
  EXPECT_NE(testing::difference(got, wanted, wanted.cast(DType::f64)), "");
}

TEST(RandomGraphs, UseEveryOp) {
  std::unordered_map<const ir::OpDef*, int> uses;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const auto r = numbered(seed);
    for (const ir::Node* node : ir::topological(r.graph)) ++uses[node->op];
  }
  for (const ir::OpDef* op : ops::all_ops())
    if (op->name != "literal" && op->name != "tan") {
      EXPECT_GT(uses[op], 0) << op->name;
    }
}

}  // namespace
}  // namespace tightloop
