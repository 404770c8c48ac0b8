// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/assembly.h>
#include <tightloop/ops/index.h>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

/// Joins of fewer elements a sample are computed inside the loops of their readers.
constexpr std::int64_t kFewElements = 32;

/// Made here alone and known to this backend alone: no gradient, no reference meaning.
ir::OpDef own_op(const char* name, const char* doc, ir::OpKind kind, int arity) {
  ir::OpDef op{.name = name, .doc = doc};
  op.kind = kind;
  op.arity = arity;
  op.typed = true;
  op.infer = [](const ir::InferArgs& a) { return *a.declared; };
  return op;
}

const ir::OpDef& piece_op() {
  static const ir::OpDef op = own_op("piece", "x, on its way into an assembly.", ir::OpKind::elementwise, 1);
  return op;
}

const ir::OpDef& assembly_op() {
  static const ir::OpDef op = [] {
    ir::OpDef made = own_op("assembly", "Pieces side by side along an axis.", ir::OpKind::view, -1);
    made.attrs = {{"axis", std::int64_t{0}}};
    return made;
  }();
  return op;
}

}  // namespace

bool is_piece(const Node* n) { return n->op == &piece_op(); }

bool is_assembly(const Node* n) { return n->op == &assembly_op(); }

std::size_t joined_axis(const Node* assembly) {
  return static_cast<std::size_t>(assembly->attrs.at<std::int64_t>("axis"));
}

ir::Graph lower_concats(const ir::Graph& graph) {
  return ir::rewrite(graph, [](const Node& n, const std::vector<Tensor>& inputs) -> Tensor {
    if (n.op != &ops::concat_op() || n.type.shape.count().factor < kFewElements) return {};
    const auto axis = n.attrs.at<std::int64_t>("axis");
    std::vector<Tensor> pieces;
    for (const Tensor& t : inputs)
      if (!t.dim(static_cast<std::size_t>(axis)).is(0))
        pieces.push_back(ir::make_node(piece_op(), {t}, {}, &t.type()));
    if (pieces.size() < 2) return {};
    ir::Attrs attrs;
    attrs.set("axis", axis);
    return ir::make_node(assembly_op(), pieces, std::move(attrs), &n.type);
  });
}

}  // namespace tightloop::backends::cpu
