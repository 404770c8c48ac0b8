// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/node.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tightloop::ir {

/// What a graph input is fed from (attribute `role` of op `input`).
/// - state: lives from step to step; an output of the same name replaces it at the end of a step
/// - data: a resident array, leading dim N
/// - argument: given by the caller for each call
/// - rows: i64[B], the rows of the data that this step sees
/// - first: i64[], the first row of the batch, for data walked in order: the others follow it
/// - step: i64[], number of this step, from 0
/// - epoch: i64[], how often the rows have been gone through before, from 0
/// - seed: i64[], the run's seed
struct Graph {
  struct Output {
    std::string name;
    Tensor value;
  };
  std::string name = "graph";
  std::vector<Tensor> inputs;   ///< nodes of op `input`, all different names
  std::vector<Output> outputs;  ///< all different names

  const Tensor* input(std::string_view input_name) const;
  const Output* output(std::string_view output_name) const;
};

std::string input_name(const Node& input);
std::string input_role(const Node& input);

/// Every node that the outputs need, inputs of a node before it; graph inputs first, in their order.
std::vector<const Node*> topological(const Graph& graph);
std::vector<const Node*> topological(const std::vector<Tensor>& roots);

/// Throws InternalError naming the first broken rule: types as the ops infer them, inputs listed and
/// named once, state outputs typed as their input, no value without an input behind it.
void verify(const Graph& graph);

/// One line a node; parse() reads it back.
std::string print(const Graph& graph);
/// Finds an op by name, null when unknown.
using OpLookup = const OpDef* (*)(std::string_view);
/// Throws Error with line and column.
Graph parse(std::string_view text, OpLookup lookup);

using NodeMap = std::unordered_map<const Node*, Tensor>;
/// Rebuilds a node with other inputs (itself when they are the same).
Tensor rebuild(const Tensor& node, std::vector<Tensor> inputs);
/// Rebuilds a graph bottom-up. `visit(node, inputs)` gets each node with its inputs already replaced and
/// returns its replacement (same type), or an empty Tensor to rebuild it as it is. Nodes made in `visit` get
/// the scope of the node they replace.
template <class Visit>
Graph rewrite(const Graph& graph, Visit visit);

}  // namespace tightloop::ir

namespace tightloop::ir {

template <class Visit>
Graph rewrite(const Graph& graph, Visit visit) {
  NodeMap map;
  std::unordered_map<const Node*, Tensor> handles;
  for (const Tensor& t : graph.inputs) map.emplace(t.id(), t);
  for (const auto& o : graph.outputs) handles.emplace(o.value.id(), o.value);
  for (const Node* node : topological(graph))
    for (const Tensor& t : node->inputs) handles.emplace(t.id(), t);
  for (const Node* node : topological(graph)) {
    if (map.contains(node)) continue;
    std::vector<Tensor> inputs;
    inputs.reserve(node->inputs.size());
    for (const Tensor& t : node->inputs) inputs.push_back(map.at(t.id()));
    const ScopeOf scope(*node);
    Tensor replaced = visit(*node, inputs);
    if (!replaced.defined()) replaced = rebuild(handles.at(node), std::move(inputs));
    require(replaced.type() == node->type, "rewrite: a replacement changed the type");
    map.emplace(node, std::move(replaced));
  }
  Graph out{graph.name, graph.inputs, {}};
  for (const auto& o : graph.outputs) out.outputs.push_back({o.name, map.at(o.value.id())});
  return out;
}

}  // namespace tightloop::ir
