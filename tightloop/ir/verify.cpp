// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ir/graph.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>

namespace tightloop::ir {
namespace {

[[noreturn]] void broken(const Graph& graph, const std::string& rule) {
  throw InternalError("internal error: graph '" + graph.name + "': " + rule);
}

struct RoleRule {
  std::string_view role;
  bool (*fits)(const TensorType&);
  std::string_view rule;
};

bool is_i64(const TensorType& t, const Shape& shape) { return t.dtype == DType::i64 && t.shape == shape; }

/// What each role demands of its type.
constexpr std::array<RoleRule, 8> kRoles{{
    {"state", [](const TensorType& t) { return t.shape.is_static(); }, "has a static shape"},
    {"data", [](const TensorType& t) { return t.shape.rank() > 0 && t.shape[0] == Dim::rows(); },
     "has leading dim N"},
    {"argument", [](const TensorType&) { return true; }, ""},
    {"rows", [](const TensorType& t) { return is_i64(t, Shape{Dim::batch()}); }, "is i64[B]"},
    {"first", [](const TensorType& t) { return is_i64(t, {}); }, "is i64[]"},
    {"step", [](const TensorType& t) { return is_i64(t, {}); }, "is i64[]"},
    {"epoch", [](const TensorType& t) { return is_i64(t, {}); }, "is i64[]"},
    {"seed", [](const TensorType& t) { return is_i64(t, {}); }, "is i64[]"},
}};

void check_input(const Graph& graph, const Tensor& t, std::set<std::string>& names) {
  if (!t.defined() || t.node().op->name != "input") broken(graph, "an entry of inputs is not an input");
  const std::string name = input_name(t.node());
  const std::string role = input_role(t.node());
  if (name.empty()) broken(graph, "an input has no name");
  if (!names.insert(name).second) broken(graph, "two inputs are named '" + name + "'");
  const auto* rule =
      std::find_if(kRoles.begin(), kRoles.end(), [&](const RoleRule& r) { return r.role == role; });
  if (rule == kRoles.end()) broken(graph, "input '" + name + "' has the unknown role '" + role + "'");
  if (!rule->fits(t.type()))
    broken(graph, "input '" + name + "' of role " + role + " " + std::string(rule->rule) + ", not " +
                      to_string(t.type()));
}

void check_output(const Graph& graph, const Graph::Output& o, std::set<std::string>& names) {
  if (o.name.empty()) broken(graph, "an output has no name");
  if (!o.value.defined()) broken(graph, "output '" + o.name + "' is empty");
  if (!names.insert(o.name).second) broken(graph, "two outputs are named '" + o.name + "'");
  const Tensor* state = graph.input(o.name);
  if (state == nullptr) return;
  if (input_role(state->node()) != "state")
    broken(graph, "output '" + o.name + "' is named as an input that is no state");
  if (state->type() != o.value.type())
    broken(graph, "state '" + o.name + "' is " + to_string(state->type()) + " but becomes " +
                      to_string(o.value.type()));
}

void check_node(const Graph& graph, const Node& node, const std::unordered_set<const Node*>& listed) {
  const std::string op(node.op->name);
  if (op == "input" && !listed.contains(&node))
    broken(graph, "input '" + input_name(node) + "' is not listed");
  const int arity = node.op->arity;
  if (arity >= 0 && node.inputs.size() != static_cast<std::size_t>(arity))
    broken(graph, op + " has " + std::to_string(node.inputs.size()) + " inputs");
  TensorType inferred;
  try {
    inferred = node.op->infer({*node.op, node.inputs, node.attrs, node.op->typed ? &node.type : nullptr});
  } catch (const Error& e) {
    broken(graph, std::string("not well typed: ") + e.what());
  }
  if (inferred != node.type)
    broken(graph, op + " is " + to_string(node.type) + " but its inputs give " + to_string(inferred));
}

}  // namespace

void verify(const Graph& graph) {
  std::set<std::string> input_names;
  std::set<std::string> output_names;
  std::unordered_set<const Node*> listed;
  for (const Tensor& t : graph.inputs) {
    check_input(graph, t, input_names);
    listed.insert(t.id());
  }
  for (const auto& o : graph.outputs) check_output(graph, o, output_names);
  for (const Node* node : topological(graph)) check_node(graph, *node, listed);
}

}  // namespace tightloop::ir
