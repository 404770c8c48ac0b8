// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/merge_dims.h>
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <numeric>

namespace tightloop::backends::cpu {
namespace {

using ir::Ints;
using ir::Node;
using ir::OpKind;

/// The last two dims of an image or of a map of one: known and worth merging.
bool is_plane(const Shape& s) {
  const std::size_t n = s.rank();
  return n >= 3 && s[n - 1].is_static() && s[n - 2].is_static() && s[n - 1].factor > 1 && s[n - 2].factor > 1;
}

Shape merged(const Shape& s) {
  auto dims = s.dims();
  const Dim last = dims.back();
  dims.pop_back();
  dims.back().factor *= last.factor;
  return Shape(std::move(dims));
}

std::int64_t last_dim(const Shape& s) { return static_cast<std::int64_t>(s.rank()) - 1; }

/// How `axes`, of dims of `s`, take the last two: 0 not at all, 2 both, 1 one alone.
int taken(const Ints& axes, const Shape& s) {
  return static_cast<int>(
      std::count_if(axes.begin(), axes.end(), [&](auto a) { return a >= last_dim(s) - 1; }));
}

bool is_sum_like(const Node* n) {
  return n->op->kind == OpKind::reduction && n->attrs.find("axes") != nullptr;
}

/// A broadcast of the same number all over each plane.
bool repeats_planes(const Node* broadcast) {
  const Ints& dims = broadcast->attrs.at<Ints>("dims");
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] >= last_dim(broadcast->type.shape) - 1 && !broadcast->inputs[0].dim(i).is(1)) return false;
  return true;
}

/// What a node is to the planes that it reads and makes.
enum class Part : std::uint8_t {
  walks,     ///< makes a plane and walks the planes that it reads in the same order
  ends,      ///< reads planes and walks their last two dims together, but makes none
  memory,    ///< reads and makes whole arrays, in any form
  separates  ///< needs the two dims apart
};

Part part_of(const Node* n) {
  const Shape& s = n->type.shape;
  const auto ints = [&](const char* name) -> const Ints& { return n->attrs.at<Ints>(name); };
  if (n->op == &ops::input_op() || is_window(n) || n->op == &ops::reshape_op() ||
      n->op == &ops::scatter_add_op())
    return Part::memory;
  if (n->op->kind == OpKind::elementwise || n->op == &ops::constant_op()) return Part::walks;
  if (n->op->kind == OpKind::random)
    return n->attrs.find("within") == nullptr ? Part::walks : Part::separates;
  if (n->op == &ops::broadcast_op()) {
    if (repeats_planes(n)) return Part::walks;
    const Shape& from = n->inputs[0].shape();
    return taken(ints("dims"), s) == 2 && is_plane(from) && from[from.rank() - 1] == s[s.rank() - 1] &&
                   from[from.rank() - 2] == s[s.rank() - 2]
               ? Part::walks
               : Part::separates;
  }
  if (n->op == &ops::concat_op())
    return n->attrs.at<std::int64_t>("axis") < last_dim(s) - 1 ? Part::walks : Part::separates;
  if (n->op == &ops::gather_op())
    return is_plane(n->inputs[0].shape()) && n->inputs[1].rank() == 1 && n->inputs[0].rank() >= 3
               ? Part::walks
               : Part::separates;
  if (is_sum_like(n)) {
    const int axes = taken(ints("axes"), n->inputs[0].shape());
    return axes == 0 ? Part::walks : axes == 2 ? Part::ends : Part::separates;
  }
  return Part::separates;
}

/// Sets of planes that are merged together or not at all.
class Sets {
 public:
  explicit Sets(const std::vector<const Node*>& order) {
    for (const Node* n : order) {
      number_.emplace(n, number_.size());
      parent_.push_back(parent_.size());
    }
    open_.assign(parent_.size(), true);
    windows_.assign(parent_.size(), false);
    for (const Node* n : order) look_at(n);
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      if (!open_[i]) open_[find(i)] = false;
      if (windows_[i]) windows_[find(i)] = true;
    }
  }

  bool merges(const Node* n) {
    const std::size_t set = find(number_.at(n));
    return is_plane(n->type.shape) && open_[set] && windows_[set];
  }

 private:
  void look_at(const Node* n) {
    const Part part = part_of(n);
    const bool makes = is_plane(n->type.shape);
    if (makes && part == Part::separates) open_[number_.at(n)] = false;
    for (const Tensor& t : n->inputs) {
      if (!is_plane(t.shape())) continue;
      if (part == Part::separates) open_[number_.at(t.id())] = false;
      if (part == Part::walks && makes) join(number_.at(n), number_.at(t.id()));
      if (part == Part::walks && !makes) open_[number_.at(t.id())] = false;
      if (is_window(n)) windows_[number_.at(t.id())] = true;
    }
    if (makes && is_window(n)) windows_[number_.at(n)] = true;
  }

  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

  std::unordered_map<const Node*, std::size_t> number_;
  std::vector<std::size_t> parent_;
  std::vector<bool> open_;
  std::vector<bool> windows_;
};

class Rewriter {
 public:
  explicit Rewriter(const ir::Graph& graph) : sets_(ir::topological(graph)) {}

  Tensor operator()(const Node& n, const std::vector<Tensor>& inputs) {
    const bool ends = part_of(&n) == Part::ends && sets_.merges(n.inputs[0].id());
    if (ends) return rebuilt(n, inputs, n.type.shape);
    if (!sets_.merges(&n) || part_of(&n) != Part::walks) return {};
    return reshape(rebuilt(n, inputs, merged(n.type.shape)), n.type.shape);
  }

 private:
  /// The merged form of an input, which comes as a view of it or as whole memory.
  static Tensor plane(const Tensor& t) {
    const Shape wanted = merged(t.shape());
    if (t.node().op == &ops::reshape_op() && t.node().inputs[0].shape() == wanted) return t.node().inputs[0];
    return reshape(t, wanted);
  }

  /// A broadcast all over planes, into `shape`, without dims of 1 that stood for height and width.
  static Tensor repeated(const Node& n, const Tensor& x, const TensorType& type) {
    Ints dims;
    std::vector<Dim> kept;
    const Ints& all = n.attrs.at<Ints>("dims");
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] >= last_dim(n.type.shape) - 1) continue;
      dims.push_back(all[i]);
      kept.push_back(x.dim(i));
    }
    const Tensor from = kept.size() == x.rank() ? x : reshape(x, Shape(std::move(kept)));
    return ir::make_node(*n.op, {from}, {{"dims", dims}}, &type);
  }

  static Tensor rebuilt(const Node& n, const std::vector<Tensor>& inputs, const Shape& shape) {
    if (n.op == &ops::broadcast_op() && repeats_planes(&n))
      return repeated(n, inputs[0], {n.type.dtype, shape});
    std::vector<Tensor> merged_inputs;
    for (const Tensor& t : inputs) merged_inputs.push_back(is_plane(t.shape()) ? plane(t) : t);
    ir::Attrs attrs;
    for (const auto& [name, value] : n.attrs) attrs.set(name, attribute(n, name, value));
    const TensorType type{n.type.dtype, shape};
    return ir::make_node(*n.op, std::move(merged_inputs), std::move(attrs), n.op->typed ? &type : nullptr);
  }

  static ir::AttrValue attribute(const Node& n, const std::string& name, const ir::AttrValue& value) {
    if (name == "dims" && taken(std::get<Ints>(value), n.type.shape) == 2) {
      Ints dims = std::get<Ints>(value);
      dims.pop_back();
      return dims;
    }
    if (name == "axes" && is_sum_like(&n) && taken(std::get<Ints>(value), n.inputs[0].shape()) == 2) {
      Ints axes = std::get<Ints>(value);
      axes.pop_back();
      return axes;
    }
    return value;
  }

  Sets sets_;
};

}  // namespace

ir::Graph merge_dims(const ir::Graph& graph) { return ir::rewrite(graph, Rewriter(graph)); }

}  // namespace tightloop::backends::cpu
