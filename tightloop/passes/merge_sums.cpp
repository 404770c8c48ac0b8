// SPDX-License-Identifier: Apache-2.0
// What a loop over steps leaves in the gradients of its operands, long sums of parts, becomes one node over
// the joined parts:
// - pads that fill disjoint pieces of an axis → a concatenation;
// - products aᵀ·b of one shape (a weight used in every step) → one product over the steps' joined rows;
// - sums over the same axes (a bias) → one sum.
#include <tightloop/passes/index.h>
#include <tightloop/passes/match.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace tightloop::passes {
namespace {

using ir::Ints;
using ir::Node;

/// Joining fewer products or sums than this costs more than it saves.
constexpr std::size_t kFewParts = 4;

/// [K, …] each → [K, parts, …].
Tensor stack_second(const Inputs& parts) {
  std::vector<Dim> dims = parts[0].shape().dims();
  dims.insert(dims.begin() + 1, Dim(1));
  Inputs rows;
  for (const Tensor& t : parts) rows.push_back(reshape(t, Shape(dims)));
  return concat(rows, 1);
}

bool is_weight_gradient(const Tensor& t) {
  return is(t, ops::matmul_op()) && t.rank() == 2 && in(t).rank() == 2 && in(t, 1).rank() == 2 &&
         t.node().attrs.get<bool>("transpose_a", false) && !t.node().attrs.get<bool>("transpose_b", false);
}

Tensor joined_product(const Inputs& products) {
  const auto rows = [&](std::size_t operand) {
    Inputs parts;
    for (const Tensor& t : products) parts.push_back(in(t, operand));
    const Dim k = parts[0].dim(0);
    const Dim all(k.factor * static_cast<std::int64_t>(parts.size()), k.symbol);
    return reshape(stack_second(parts), {all, parts[0].dim(1)});
  };
  return ir::make_node(ops::matmul_op(), {rows(0), rows(1)}, {{"transpose_a", true}});
}

Tensor joined_sum(const Inputs& sums) {
  Inputs parts;
  for (const Tensor& t : sums) parts.push_back(in(t));
  Ints axes{1};
  for (const std::int64_t axis : ints(sums[0], "axes")) axes.push_back(axis == 0 ? 0 : axis + 1);
  std::sort(axes.begin(), axes.end());
  return ir::make_node(ops::reduce_sum_op(), {stack_second(parts)}, {{"axes", axes}});
}

/// The axis along which a pad by zeros pads; nothing when there are several.
std::optional<std::size_t> padded_axis(const Tensor& t) {
  if (!is(t, ops::pad_op()) || t.node().attrs.at<double>("value") != 0) return std::nullopt;
  std::optional<std::size_t> axis;
  for (std::size_t d = 0; d < t.rank(); ++d) {
    if (t.dim(d) == in(t).dim(d)) continue;
    if (axis) return std::nullopt;
    axis = d;
  }
  return axis;
}

/// Nothing when two of the pads fill the same place.
std::optional<Tensor> joined_pads(Inputs pads, std::size_t axis) {
  const auto low = [&](const Tensor& t) { return ints(t, "low")[axis]; };
  std::stable_sort(pads.begin(), pads.end(),
                   [&](const Tensor& a, const Tensor& b) { return low(a) < low(b); });
  const TensorType& type = pads[0].type();
  Inputs parts;
  std::int64_t end = 0;
  const auto fill_to = [&](std::int64_t start) {
    if (start == end) return;
    std::vector<Dim> dims = type.shape.dims();
    dims[axis] = start - end;
    parts.push_back(zeros(Shape(dims), type.dtype));
  };
  for (const Tensor& t : pads) {
    if (low(t) < end) return std::nullopt;
    fill_to(low(t));
    parts.push_back(in(t));
    end = low(t) + in(t).dim(axis).factor;
  }
  fill_to(type.shape[axis].factor);
  return concat(parts, static_cast<std::int64_t>(axis));
}

/// The terms of one sum, in order.
class Terms {
 public:
  explicit Terms(Inputs terms) : terms_(std::move(terms)) {}

  /// Undefined when nothing was joined.
  Tensor joined() {
    join_pads();
    join(is_weight_gradient, joined_product);
    join([](const Tensor& t) { return is(t, ops::reduce_sum_op()) && in(t).rank() > 0; }, joined_sum);
    if (!changed_) return {};
    Tensor sum = terms_[0];
    for (std::size_t i = 1; i < terms_.size(); ++i) sum = add(sum, terms_[i]);
    return sum;
  }

 private:
  /// Terms of which `wanted` holds and whose operands are like those of the first such term.
  template <class Wanted, class Merge>
  void join(Wanted wanted, Merge merge) {
    for (std::size_t first = 0; first < terms_.size(); ++first) {
      if (!wanted(terms_[first])) continue;
      std::vector<std::size_t> like;
      for (std::size_t i = first; i < terms_.size(); ++i)
        if (wanted(terms_[i]) && alike(terms_[first], terms_[i])) like.push_back(i);
      if (like.size() >= kFewParts) replace(like, merge(at(like)));
    }
  }

  void join_pads() {
    for (std::size_t first = 0; first < terms_.size(); ++first) {
      const auto axis = padded_axis(terms_[first]);
      if (!axis) continue;
      std::vector<std::size_t> like;
      for (std::size_t i = first; i < terms_.size(); ++i)
        if (padded_axis(terms_[i]) == axis) like.push_back(i);
      if (like.size() < 2) continue;
      if (auto whole = joined_pads(at(like), *axis)) replace(like, std::move(*whole));
    }
  }

  static bool alike(const Tensor& a, const Tensor& b) {
    if (a.node().op != b.node().op || !(a.node().attrs == b.node().attrs)) return false;
    for (std::size_t i = 0; i < a.node().inputs.size(); ++i)
      if (in(a, i).type() != in(b, i).type()) return false;
    return true;
  }

  Inputs at(const std::vector<std::size_t>& places) const {
    Inputs out;
    for (const std::size_t i : places) out.push_back(terms_[i]);
    return out;
  }

  void replace(const std::vector<std::size_t>& places, Tensor by) {
    terms_[places[0]] = std::move(by);
    for (auto i = places.rbegin(); i + 1 != places.rend(); ++i)
      terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(*i));
    changed_ = true;
  }

  Inputs terms_;
  bool changed_ = false;
};

class Merger {
 public:
  explicit Merger(const ir::Graph& graph) {
    std::unordered_map<const Node*, int> uses;
    std::unordered_set<const Node*> elsewhere;
    for (const auto& o : graph.outputs) elsewhere.insert(o.value.id());
    for (const Node* n : ir::topological(graph))
      for (const Tensor& t : n->inputs) {
        ++uses[t.id()];
        if (!is(*n, ops::add_op())) elsewhere.insert(t.id());
      }
    for (const auto& [n, count] : uses)
      if (is(*n, ops::add_op()) && count == 1 && !elsewhere.contains(n)) inner_.insert(n);
  }

  Tensor operator()(const Node& node, const Inputs& inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) replaced_.emplace(node.inputs[i].id(), inputs[i]);
    if (!is(node, ops::add_op()) || inner_.contains(&node)) return {};
    Inputs terms;
    collect(node, terms);
    return terms.size() < 2 ? Tensor() : Terms(std::move(terms)).joined();
  }

 private:
  /// Sums of steps lean to one side: the left one is walked, not recursed into.
  void collect(const Node& add, Inputs& terms) const {
    const Node* n = &add;
    Inputs backwards;
    while (true) {
      append(n->inputs[1], backwards);
      if (!inner_.contains(n->inputs[0].id())) break;
      n = n->inputs[0].id();
    }
    append(n->inputs[0], backwards);
    terms.assign(backwards.rbegin(), backwards.rend());
  }

  /// Last term first.
  void append(const Tensor& t, Inputs& backwards) const {
    if (!inner_.contains(t.id())) {
      backwards.push_back(replaced_.at(t.id()));
      return;
    }
    append(in(t, 1), backwards);
    append(in(t, 0), backwards);
  }

  std::unordered_set<const Node*> inner_;  ///< additions that only another one reads
  ir::NodeMap replaced_;
};

}  // namespace

ir::Graph merge_sums(const ir::Graph& graph) { return ir::rewrite(graph, Merger(graph)); }

}  // namespace tightloop::passes
