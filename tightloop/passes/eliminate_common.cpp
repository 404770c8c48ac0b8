// SPDX-License-Identifier: Apache-2.0
// Nodes of the same op, inputs, attributes and type become one. Random ops too: they are functions of their
// inputs.
#include <tightloop/ir/literal.h>
#include <tightloop/ir/text.h>
#include <tightloop/passes/index.h>
#include <tightloop/passes/match.h>

#include <algorithm>

namespace tightloop::passes {
namespace {

using ir::Node;

bool commutes(const Node& node) {
  static const ir::OpDef* const ops[] = {&ops::add_op(),     &ops::mul_op(),         &ops::minimum_op(),
                                         &ops::maximum_op(), &ops::logical_and_op(), &ops::logical_or_op(),
                                         &ops::eq_op(),      &ops::ne_op()};
  return std::find(std::begin(ops), std::end(ops), node.op) != std::end(ops);
}

/// Equal keys mean equal values. Text, so that -0 differs from 0 and NaN equals itself.
std::string key(const Node& node, const Inputs& inputs) {
  std::vector<std::string> ids;
  for (const Tensor& t : inputs) ids.push_back(std::to_string(reinterpret_cast<std::uintptr_t>(t.id())));
  if (commutes(node)) std::sort(ids.begin(), ids.end());
  std::string out(node.op->name);
  for (const std::string& id : ids) out += " " + id;
  for (const auto& [name, value] : node.attrs) out += " " + name + "=" + ir::attr_text(value);
  return out + " " + to_string(node.type);
}

class Merger {
 public:
  Tensor operator()(const Node& node, const Inputs& inputs) {
    if (is(node, ops::input_op()) || is(node, ir::literal_op())) return {};
    const auto [at, first] = known_.try_emplace(key(node, inputs));
    if (first)
      at->second = ir::make_node(*node.op, inputs, node.attrs, node.op->typed ? &node.type : nullptr);
    return at->second;
  }

 private:
  std::unordered_map<std::string, Tensor> known_;
};

}  // namespace

ir::Graph eliminate_common(const ir::Graph& graph) { return ir::rewrite(graph, Merger()); }

}  // namespace tightloop::passes
