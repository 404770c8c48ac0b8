// SPDX-License-Identifier: Apache-2.0
// An op of constants is a constant: elementwise ops are evaluated once, views of a splat are splats.
#include <tightloop/base/array.h>
#include <tightloop/passes/index.h>
#include <tightloop/passes/match.h>

#include <algorithm>

namespace tightloop::passes {
namespace {

const ir::AttrValue& value_of(const Tensor& constant) { return *constant.node().attrs.find("value"); }

bool equal_splats(const Inputs& in) {
  return std::all_of(in.begin(), in.end(), [&](const Tensor& t) { return value_of(t) == value_of(in[0]); });
}

ir::AttrValue element(const Array& scalar) {
  if (is_floating(scalar.dtype())) return scalar.at(0);
  return scalar.int_at(0);
}

/// The op applied to one element.
Tensor evaluated(const ir::Node& node, const Inputs& in) {
  Inputs scalars;
  std::vector<Array> arrays;
  for (const Tensor& t : in) {
    scalars.push_back(constant(value_of(t), {t.dtype(), {}}));
    Array a(t.dtype(), {});
    const ir::Node& leaf = scalars.back().node();
    leaf.op->evaluate({leaf, {}, a, {}});
    arrays.push_back(std::move(a));
  }
  const TensorType type{node.type.dtype, {}};
  const Tensor result =
      ir::make_node(*node.op, std::move(scalars), node.attrs, node.op->typed ? &type : nullptr);
  std::vector<const Array*> pointers;
  for (const Array& a : arrays) pointers.push_back(&a);
  Array out(type.dtype, {});
  node.op->evaluate({result.node(), pointers, out, {}});
  return constant(element(out), node.type);
}

bool has_elements(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.factor > 0; });
}

Tensor moved(const ir::Node& node, const Inputs& in) {
  if (is(node, ops::pad_op()) && node.attrs.get<double>("value", 0) != splat(in[0])) return {};
  return in.size() == 1 || equal_splats(in) ? constant(value_of(in[0]), node.type) : Tensor();
}

Tensor reduced(const ir::Node& node, const Inputs& in) {
  if (is(node, ops::reduce_sum_op()) && is_splat(in[0], 0)) return constant(0.0, node.type);
  const bool extreme = is(node, ops::reduce_max_op()) || is(node, ops::reduce_min_op());
  return extreme && has_elements(in[0].shape()) ? constant(value_of(in[0]), node.type) : Tensor();
}

Tensor folded(const ir::Node& node, const Inputs& in) {
  const auto is_constant = [](const Tensor& t) { return is(t, ops::constant_op()); };
  if (in.empty() || !std::all_of(in.begin(), in.end(), is_constant)) return {};
  switch (node.op->kind) {
    case ir::OpKind::elementwise:
      return evaluated(node, in);
    case ir::OpKind::view:
      return moved(node, in);
    case ir::OpKind::reduction:
      return reduced(node, in);
    default:
      return {};
  }
}

}  // namespace

ir::Graph fold_constants(const ir::Graph& graph) { return ir::rewrite(graph, folded); }

}  // namespace tightloop::passes
