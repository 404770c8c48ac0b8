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
    for (const std::int64_t batch : {1, 3, 17, 257}) {
      const Sizes sizes{batch, batch + 5};
      std::vector<Array> inputs;
      for (std::size_t i = 0; i < g.inputs.size(); ++i)
        inputs.push_back(random_array(g.inputs[i].dtype(), g.inputs[i].shape().values(sizes), sample.low, sample.high, i + 1));
      const auto want = backends::interpret(g, inputs, {.sizes = sizes, .step = 3, .seed = 11});
      Tolerance t;
      t.relative = std::max(t.relative, sample.tolerance);
      for (const int threads : {1, 2}) testing::expect_same(g, testing::run_compiled(g, inputs, sizes, 3, 11, threads), want, t);
      if (HasFatalFailure()) return;
    }
  }
}




INSTANTIATE_TEST_SUITE_P(Ops, CompiledOp, ::testing::ValuesIn(ops::all_ops().begin(), ops::all_ops().end()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace tightloop
