// SPDX-License-Identifier: Apache-2.0
// Every op of the index on every sample it lists, compiled against interpreted, for several batch sizes.
#include <tests/support/compare.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

namespace tightloop {
namespace {

ir::Graph graph_of(const ir::OpDef& op, const ir::Sample& sample) {
  ir::Graph g;
  g.name = std::string(op.name);
  for (std::size_t i = 0; i < sample.inputs.size(); ++i)
    g.inputs.push_back(input("x" + std::to_string(i), "argument", sample.inputs[i]));
  const TensorType* declared = sample.declared.empty() ? nullptr : &sample.declared[0];
  g.outputs.push_back({"y", ir::make_node(op, g.inputs, sample.attrs, declared)});
  return g;
}

using testing::random_array;
using testing::Tolerance;

class CompiledOp : public ::testing::TestWithParam<const ir::OpDef*> {};

TEST_P(CompiledOp, AgreesWithTheInterpreterOnItsSamples) {
  const ir::OpDef& op = *GetParam();
  if (op.name == "input" || op.name == "literal") return;  // graphs hold them as they are
  ASSERT_NE(op.samples, nullptr);
  for (const ir::Sample& sample : op.samples()) {
    const ir::Graph g = graph_of(op, sample);
    testing::Compiled one(g, 1);
    testing::Compiled two(g, 2);
    testing::Compiled narrow(g, 1, 32);  // a machine without masks
    testing::Compiled narrowest(g, 2, 16);
    for (const std::int64_t batch : {1, 3, 17, 257}) {
      const Sizes sizes{batch, batch + 5};
      std::vector<Array> inputs;
      for (std::size_t i = 0; i < g.inputs.size(); ++i)
        inputs.push_back(random_array(g.inputs[i].dtype(), g.inputs[i].shape().values(sizes), sample.low,
                                      sample.high, i + 1));
      const auto want = backends::interpret(g, inputs, {.sizes = sizes, .step = 3, .seed = 11});
      Tolerance t;
      t.relative = std::max(t.relative, sample.tolerance);
      const auto got = one.run(inputs, sizes, 3, 11);
      testing::expect_same(g, got, want, t);
      testing::expect_same(g, narrow.run(inputs, sizes, 3, 11), want, t);
      testing::expect_same(g, narrowest.run(inputs, sizes, 3, 11), want, t);
      const auto again = two.run(inputs, sizes, 3, 11);
      for (std::size_t o = 0; o < got.size(); ++o)
        EXPECT_TRUE(identical(got[o], again[o])) << "1 and 2 threads differ\n" << ir::print(g);
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, CompiledOp, ::testing::ValuesIn(ops::all_ops().begin(), ops::all_ops().end()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace tightloop
