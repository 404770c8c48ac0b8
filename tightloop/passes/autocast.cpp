// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ir/graph.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/passes/autocast.h>

#include <algorithm>
#include <unordered_set>

namespace tightloop {
namespace {

using ir::Node;
using ir::OpKind;
using ir::Precision;
using NodeSet = std::unordered_set<const Node*>;

/// Of attention: q, k and v, but neither mask nor seed. Others have two.
constexpr std::size_t kMostOperands = 3;

bool is_view(const Node& n) { return n.op->kind == OpKind::view; }

/// Parts of the path that are no more than a place within a layer.
bool in_f32(const Node& n) { return n.scope.find(InF32::kMark) != std::string::npos; }

class Caster {
 public:
  Caster(const std::vector<Tensor>& values, const AutocastOptions& options)
      : options_(options), order_(ir::topological(values)) {
    for (const Tensor& t : values) handles_.emplace(t.id(), t);
    for (const Node* n : order_)
      for (const Tensor& t : n->inputs) {
        handles_.emplace(t.id(), t);
        if (t.node().scope != n->scope) handed_on_.insert(t.id());
      }
    for (const Node* n : order_)
      if (is_low(*n))
        for (std::size_t i = 0; i < std::min(kMostOperands, n->inputs.size()); ++i)
          mark_operand(n->inputs[i]);
  }

  std::vector<Tensor> run(const std::vector<Tensor>& values) {
    for (const Node* n : order_) replaced_.emplace(n, replacement(*n));
    std::vector<Tensor> out;
    for (const Tensor& t : values) out.push_back(replaced_.at(t.id()));
    return out;
  }

 private:
  bool is_low(const Node& n) const {
    return n.op->precision == Precision::low && n.type.dtype == DType::f32 && !in_f32(n) &&
           (!options_.chosen || options_.chosen(n));
  }

  /// `t` and what it is a view of.
  void mark_operand(const Tensor& t) {
    const Node* n = t.id();
    operands_.insert(n);
    while (is_view(*n) && n->inputs.size() == 1) operands_.insert(n = n->inputs[0].id());
  }

  Tensor replacement(const Node& n) {
    std::vector<Tensor> inputs;
    for (const Tensor& t : n.inputs) inputs.push_back(replaced_.at(t.id()));
    const ir::ScopeOf scope(n);
    const bool low = is_low(n);
    if (low)
      for (std::size_t i = 0; i < std::min(kMostOperands, inputs.size()); ++i) inputs[i] = rounded(inputs[i]);
    const bool follows = !low && follows_low(n, inputs);
    Tensor out = ir::rebuild(handles_.at(&n), std::move(inputs));
    if (low) return n.op == &ops::attention_op() ? out : rounded(out);  // whose last column is no activation
    if (!follows) return out;
    if (is_view(n)) {
      rounded_values_.insert(out.id());
      return out;
    }
    const bool handed_on = options_.between_layers && handed_on_.contains(&n);
    if (operands_.contains(&n) || handed_on) return rounded(out);
    derived_.insert(out.id());
    return out;
  }

  /// Whether a value is of the low type by what it is computed from. Numbers, and rows or channels stretched
  /// over the others (statistics, biases, scales), do not decide.
  bool follows_low(const Node& n, const std::vector<Tensor>& inputs) const {
    if (n.type.dtype != DType::f32 || in_f32(n) || n.op->precision == Precision::high) return false;
    if (options_.between_layers && n.op == &ops::gather_op()) return true;
    const bool moves = is_view(n) || n.op->kind == OpKind::window || n.op->kind == OpKind::indexing;
    if (n.op->kind != OpKind::elementwise && !moves) return false;
    bool any = false;
    for (const Tensor& t : inputs) {
      if (t.dtype() != DType::f32 || is_stretched(t)) continue;
      const bool low = rounded_values_.contains(t.id()) || derived_.contains(t.id());
      if (!low && !options_.between_layers) return false;
      any = any || low;
    }
    return any && (!is_view(n) || all_rounded(inputs));
  }

  bool all_rounded(const std::vector<Tensor>& inputs) const {
    return std::all_of(inputs.begin(), inputs.end(),
                       [&](const Tensor& t) { return rounded_values_.contains(t.id()); });
  }

  static bool is_stretched(const Tensor& t) {
    const Node* n = t.id();
    while (n->op == &ops::reshape_op() || n->op == &ops::cast_op()) n = n->inputs[0].id();
    return n->op == &ops::broadcast_op() || n->op == &ops::constant_op() || n->type.shape.is_scalar();
  }

  Tensor rounded(const Tensor& t) {
    if (t.dtype() != DType::f32 || rounded_values_.contains(t.id())) return t;
    Tensor& out = rounded_[t.id()];
    if (!out.defined()) {
      const ir::ScopeOf scope(t.node());
      out = cast(cast(t, options_.low), DType::f32);
      rounded_values_.insert(out.id());
    }
    return out;
  }

  const AutocastOptions& options_;
  std::vector<const Node*> order_;
  ir::NodeMap handles_, replaced_;
  ir::NodeMap rounded_;     ///< value → its rounding
  NodeSet operands_;        ///< that ops of class low read, perhaps as a view
  NodeSet handed_on_;       ///< read in another layer than made
  NodeSet rounded_values_;  ///< new nodes whose values are of the low type
  NodeSet derived_;         ///< new nodes computed from such, element by element
};

}  // namespace

std::vector<Tensor> autocast(const std::vector<Tensor>& values, const AutocastOptions& options) {
  if (options.low != DType::bf16 && options.low != DType::f16)
    throw Error("autocast: the low type must be bf16 or f16, not " + std::string(name(options.low)));
  return Caster(values, options).run(values);
}

}  // namespace tightloop
