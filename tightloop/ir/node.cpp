// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ir/node.h>

#include <algorithm>
#include <cmath>

namespace tightloop::ir {
namespace {

std::string at_op(const OpDef& op) { return std::string(op.name) + ": "; }

void check_inputs(const OpDef& op, const std::vector<Tensor>& inputs) {
  for (const Tensor& t : inputs) require(t.defined(), "make_node: an input is an empty Tensor");
  const bool fits = op.arity < 0 ? !inputs.empty() : inputs.size() == static_cast<std::size_t>(op.arity);
  if (fits) return;
  const std::string wanted = op.arity < 0 ? "at least 1" : std::to_string(op.arity);
  throw Error(at_op(op) + "takes " + wanted + " inputs, " + std::to_string(inputs.size()) + " came");
}

void check_names(const OpDef& op, const Attrs& given) {
  std::vector<std::string> known;
  for (const AttrSpec& spec : op.attrs) known.emplace_back(spec.name);
  std::vector<std::string> seen;
  for (const auto& [name, value] : given) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(at_op(op) + "has no attribute '" + name + "'" + suggestion(name, known));
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      throw Error(at_op(op) + "attribute '" + name + "' is given twice");
    seen.push_back(name);
  }
}

const char* kind_name(const AttrValue& v) {
  static constexpr const char* names[] = {"true or false", "an integer",         "a number",
                                          "a string",      "a list of integers", "a dtype"};
  return names[v.index()];
}

/// Numbers: an integer stands for a double, and a whole double for an integer where the node's own dtype is
/// one.
AttrValue converted(const OpDef& op, const AttrSpec& spec, AttrValue v, const TensorType* declared) {
  if (std::holds_alternative<double>(spec.example)) {
    const bool whole = declared != nullptr && !is_floating(declared->dtype);
    if (whole && std::holds_alternative<double>(v)) {
      const double d = std::get<double>(v);
      if (std::trunc(d) == d && std::abs(d) < 0x1p63) return static_cast<std::int64_t>(d);
      return v;
    }
    if (!whole && std::holds_alternative<std::int64_t>(v))
      return static_cast<double>(std::get<std::int64_t>(v));
    if (whole && std::holds_alternative<std::int64_t>(v)) return v;
  }
  if (v.index() != spec.example.index())
    throw Error(at_op(op) + "attribute '" + std::string(spec.name) + "' must be " + kind_name(spec.example) +
                ", " + kind_name(v) + " came");
  return v;
}

/// In the order of the op's list, defaults left out.
Attrs canonical(const OpDef& op, const Attrs& given, const TensorType* declared) {
  check_names(op, given);
  Attrs out;
  for (const AttrSpec& spec : op.attrs) {
    const AttrValue* v = given.find(spec.name);
    if (v == nullptr && spec.required)
      throw Error(at_op(op) + "needs the attribute '" + std::string(spec.name) + "'");
    if (v == nullptr) continue;
    AttrValue value = converted(op, spec, *v, declared);
    if (!spec.required && value == spec.example) continue;
    out.set(std::string(spec.name), std::move(value));
  }
  return out;
}

}  // namespace

Tensor make_node_at(std::string scope, const OpDef& op, std::vector<Tensor> inputs, Attrs attrs,
                    const TensorType* declared) {
  require(op.infer != nullptr, "make_node: the op has no shape rule");
  require(op.typed == (declared != nullptr), "make_node: exactly the typed ops take a result type");
  check_inputs(op, inputs);
  auto node = std::make_shared<Node>();
  node->attrs = canonical(op, attrs, declared);
  node->type = op.infer({op, inputs, node->attrs, declared});
  node->op = &op;
  node->inputs = std::move(inputs);
  node->scope = std::move(scope);
  return Tensor(std::shared_ptr<const Node>(std::move(node)));
}

Tensor make_node(const OpDef& op, std::vector<Tensor> inputs, Attrs attrs, const TensorType* declared) {
  return make_node_at(Scope::path(), op, std::move(inputs), std::move(attrs), declared);
}

}  // namespace tightloop::ir
