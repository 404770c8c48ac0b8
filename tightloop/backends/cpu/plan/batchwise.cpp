// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/assembly.h>
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/backends/cpu/plan/schedule.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

#include <algorithm>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;
using ir::OpKind;
using NodeSet = std::unordered_set<const Node*>;

constexpr std::int64_t kMostGroups = 16;
/// Where a weight gradient's sides have a harmonic mean above this, moving its partial sums costs more than
/// moving the samples; and no more elements than this for other sums.
constexpr std::int64_t kLargestSide = 128;
constexpr std::int64_t kLargestSum = 16384;

/// Uses of a weight by one sample from which on a stretch may be short.
constexpr double kManyUses = 4;

std::size_t batch_axis(const Shape& shape) {
  std::size_t d = 0;
  while (shape[d].symbol != Symbol::batch) ++d;
  return d;
}

class Batchwise {
 public:
  explicit Batchwise(const NodeSet& roots) : roots_(roots) {}

  /// Reading a sample's rows of `n` needs only that sample's rows of what lies in memory.
  bool readable(const Node* n) {
    if (carries_batch(n->type.shape) && !leads_with_batch(n->type.shape)) return false;
    return is_input(n) || roots_.contains(n) || computable(n);
  }

  bool computable(const Node* n) {
    if (!seen_.insert(n).second) return true;
    for (std::size_t i = 0; i < n->inputs.size(); ++i) {
      if (carries_batch(n->inputs[i].shape()) && !keeps_samples(n, i)) return false;
      if (!readable(n->inputs[i].id())) return false;
    }
    return true;
  }

 private:
  /// Sample b of `n` reads sample b of its input i; both carry the batch.
  static bool keeps_samples(const Node* n, std::size_t i) {
    const Shape& from = n->inputs[i].shape();
    const Shape& to = n->type.shape;
    if (!carries_batch(to) || !leads_with_batch(from) || !leads_with_batch(to)) return false;
    const std::size_t axis = batch_axis(from);
    const bool same = axis < to.rank() && from[axis] == to[axis];
    const auto ints = [&](const char* name) { return n->attrs.at<ir::Ints>(name)[axis]; };
    if (n->op->kind == OpKind::elementwise || n->op->kind == OpKind::reduction) return true;
    if (n->op == &ops::reshape_op() || n->op == &ops::transpose_op()) return true;
    if (n->op == &ops::broadcast_op()) return from[axis] == to[static_cast<std::size_t>(ints("dims"))];
    if (n->op == &ops::slice_op()) return same && ints("start") == 0 && ints("step") == 1;
    if (n->op == &ops::pad_op()) return same && ints("low") == 0 && ints("high") == 0;
    if (n->op == &ops::concat_op() || is_assembly(n))
      return same && n->attrs.at<std::int64_t>("axis") != std::int64_t(axis);
    if (n->op == &ops::gather_op() || n->op == &ops::gather_window_op()) return i == 1;
    if (n->op == &ops::matmul_op()) {
      if (axis + 2 < from.rank()) return true;
      return i == 0 && axis + 2 == from.rank() && !n->attrs.get<bool>("transpose_a", false);
    }
    return false;
  }

  const NodeSet& roots_;
  NodeSet seen_;
};

/// Made by split_batch_sums() alone and run by generated code alone: no gradient, no reference meaning.
ir::OpDef group_op(const char* name, OpKind kind, std::vector<ir::AttrSpec> attrs) {
  ir::OpDef op{.name = name, .doc = "Sum over the samples of each group."};
  op.kind = kind;
  op.arity = -1;
  op.typed = true;
  op.attrs = std::move(attrs);
  op.infer = [](const ir::InferArgs& a) { return *a.declared; };
  return op;
}

const ir::OpDef& group_sum_op() {
  static const ir::OpDef op = group_op("group_sum", OpKind::reduction, {{"axes", ir::Ints{}}});
  return op;
}

const ir::OpDef& group_matmul_op() {
  static const ir::OpDef op = group_op("group_matmul", OpKind::contraction, {{"transpose_a", true}});
  return op;
}

bool sums_over_batch(const Node& n) {
  if (n.op != &ops::reduce_sum_op() && n.op != &ops::matmul_op()) return false;
  const Shape& from = n.inputs[0].shape();
  if (!carries_batch(from) || !leads_with_batch(from) || carries_batch(n.type.shape)) return false;
  if (n.op == &ops::reduce_sum_op()) {
    const Dim kept = n.type.shape.count();
    return kept.is_static() && kept.factor <= kLargestSum;
  }
  if (from.rank() != 2 || !n.attrs.get<bool>("transpose_a", false) ||
      n.attrs.get<bool>("transpose_b", false) || !n.type.shape.is_static())
    return false;
  const std::int64_t rows = n.type.shape[0].factor, columns = n.type.shape[1].factor;
  return 2 * rows * columns <= kLargestSide * (rows + columns);
}

Tensor split(const Node& n, const std::vector<Tensor>& inputs) {
  std::vector<Dim> dims{Dim(1, Symbol::groups)};
  dims.insert(dims.end(), n.type.shape.begin(), n.type.shape.end());
  const TensorType type{n.type.dtype, Shape(std::move(dims))};
  ir::Attrs attrs;
  const bool matmul = n.op == &ops::matmul_op();
  if (matmul)
    attrs.set("transpose_a", true);
  else
    attrs.set("axes", n.attrs.at<ir::Ints>("axes"));
  const Tensor sums =
      ir::make_node(matmul ? group_matmul_op() : group_sum_op(), inputs, std::move(attrs), &type);
  ir::Attrs over_groups;
  over_groups.set("axes", ir::Ints{0});
  return ir::make_node(ops::reduce_sum_op(), {sums}, std::move(over_groups));
}

}  // namespace

Groups groups_of(std::int64_t batch, std::int64_t stretch) {
  const std::int64_t share = (batch + kMostGroups - 1) / kMostGroups;
  const std::int64_t rows = std::max<std::int64_t>(1, (share + stretch - 1) / stretch) * stretch;
  return {rows, std::max<std::int64_t>(1, (batch + rows - 1) / rows)};
}

std::int64_t most_groups(std::int64_t batch, std::int64_t stretch) {
  return std::clamp<std::int64_t>((batch + stretch - 1) / stretch, 1, kMostGroups);
}

std::int64_t stretch_of(const ir::Graph& graph) {
  double products = 0, weights = 0;  // multiplications of a sample by elements of weights; those elements
  NodeSet seen;
  for (const Node* n : ir::topological(graph)) {
    if (n->op != &ops::matmul_op() || !carries_batch(n->type.shape)) continue;
    const Shape& weight = n->inputs[1].shape();
    if (!weight.is_static()) continue;
    const double columns = static_cast<double>(n->type.shape[n->type.shape.rank() - 1].value({}));
    products += static_cast<double>(n->type.shape.count().factor) / columns *
                static_cast<double>(weight.count().factor);
    if (seen.insert(n->inputs[1].id()).second) weights += static_cast<double>(weight.count().factor);
  }
  return products >= kManyUses * weights && weights > 0 ? kShortStretch : kLongStretch;
}

bool carries_batch(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return d.symbol == Symbol::batch; });
}

bool leads_with_batch(const Shape& shape) {
  const auto first = std::find_if(shape.begin(), shape.end(), [](const Dim& d) { return !d.is(1); });
  return first != shape.end() && first->symbol == Symbol::batch;
}

bool is_group_sum(const Node* n) { return n->op == &group_sum_op() || n->op == &group_matmul_op(); }

bool is_batchwise(const Node* root, const NodeSet& roots) {
  Batchwise rule(roots);
  if (is_group_sum(root))
    return std::all_of(root->inputs.begin(), root->inputs.end(),
                       [&](const Tensor& t) { return rule.readable(t.id()); });
  return leads_with_batch(root->type.shape) && rule.computable(root);
}

ir::Graph split_batch_sums(const ir::Graph& graph) {
  NodeSet kernels;
  for (const Node* n : ir::topological(graph))
    if (computes_as_root(n)) kernels.insert(n);
  return ir::rewrite(graph, [&](const Node& n, const std::vector<Tensor>& inputs) -> Tensor {
    if (!sums_over_batch(n) || goes_to_library(&n)) return {};
    Batchwise rule(kernels);
    const bool all = std::all_of(n.inputs.begin(), n.inputs.end(), [&](const Tensor& t) {
      return leads_with_batch(t.shape()) && rule.readable(t.id());
    });
    return all ? split(n, inputs) : Tensor{};
  });
}

}  // namespace tightloop::backends::cpu
