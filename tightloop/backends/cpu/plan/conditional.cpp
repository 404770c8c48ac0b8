// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/conditional.h>
#include <tightloop/backends/cpu/plan/schedule.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <vector>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

/// The scalar that a value repeats; empty when it is more than one number.
Tensor repeated_scalar(Tensor t) {
  while (t.node().op == &ops::broadcast_op() || t.node().op == &ops::reshape_op())
    t = Tensor(t.node().inputs[0]);
  return t.shape().is_scalar() ? t : Tensor();
}

/// The condition of an output that keeps its state where that is false; empty for others.
Tensor condition_of(const ir::Graph& graph, const ir::Graph::Output& output) {
  const Node* value = output.value.id();
  const Tensor* state = graph.input(output.name);
  if (state == nullptr || value->op != &ops::select_op() || value->inputs[2].id() != state->id()) return {};
  const Shape& shape = value->type.shape;
  if (!shape.is_static() || shape.count().factor < kSmallestConditional) return {};
  const auto same = [&](const auto& o) { return o.value.id() == value; };
  if (std::count_if(graph.outputs.begin(), graph.outputs.end(), same) != 1) return {};
  Tensor condition = repeated_scalar(value->inputs[0]);
  return condition.defined() && is_input(condition.id()) ? Tensor() : condition;
}

using Readers = std::unordered_map<const Node*, std::vector<const Node*>>;

/// The one condition of all that read a node; null when they differ or one has none.
const Node* common(const std::vector<const Node*>& readers, const Conditions& conditions) {
  const Node* out = conditions.at(readers[0]);
  const bool same =
      std::all_of(readers.begin(), readers.end(), [&](const Node* r) { return conditions.at(r) == out; });
  return same ? out : nullptr;
}

}  // namespace

Conditions find_conditions(const ir::Graph& graph) {
  Conditions out;
  std::unordered_set<const Node*> results;
  std::vector<Tensor> deciding;
  for (const auto& o : graph.outputs) {
    results.insert(o.value.id());
    const Tensor condition = condition_of(graph, o);
    if (!condition.defined()) continue;
    out.of[o.value.id()] = condition.id();
    deciding.push_back(condition);
  }
  if (deciding.empty()) return out;
  for (const Node* n : ir::topological(deciding)) out.deciding.insert(n);
  std::erase_if(out.of, [&](const auto& entry) { return out.deciding.contains(entry.first); });
  const std::vector<const Node*> order = ir::topological(graph);
  Readers readers;
  for (const Node* n : order)
    for (const Tensor& t : n->inputs) readers[t.id()].push_back(n);
  for (auto n = order.rbegin(); n != order.rend(); ++n) {
    if (results.contains(*n) || is_input(*n) || out.deciding.contains(*n) || !readers.contains(*n)) continue;
    if (const Node* condition = common(readers[*n], out)) out.of[*n] = condition;
  }
  return out;
}

}  // namespace tightloop::backends::cpu
