// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/lower_attention.h>
#include <tightloop/ops/attention_blocks.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

#include <unordered_map>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

/// A slice that is one of the two parts of an attention's value reads that part alone.
Tensor part_of(const Node& slice, const ops::AttentionValue& value) {
  for (const Tensor& part : {value.output, value.logsumexp}) {
    const auto& start = slice.attrs.at<ir::Ints>("start");
    const std::int64_t first = part.id() == value.output.id() ? 0 : value.output.dim(part.rank() - 1).factor;
    if (slice.type == part.type() && start.back() == first) return part;
  }
  return {};
}

}  // namespace

ir::Graph lower_attention(const ir::Graph& graph) {
  std::unordered_map<const Node*, ops::AttentionValue> values;  // by what replaces the attention
  return ir::rewrite(graph, [&](const Node& n, const std::vector<Tensor>& inputs) -> Tensor {
    if (n.op == &ops::slice_op())
      if (const auto at = values.find(inputs[0].id()); at != values.end()) return part_of(n, at->second);
    if (n.op != &ops::attention_op()) return {};
    const ops::AttentionValue value = ops::attention_by_blocks(ops::attention_parts(n, inputs));
    const Tensor both = concat({value.output, value.logsumexp}, -1);
    values.emplace(both.id(), value);
    return both;
  });
}

}  // namespace tightloop::backends::cpu
