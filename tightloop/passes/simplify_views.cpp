// SPDX-License-Identifier: Apache-2.0
// Compositions of reshape, broadcast and transpose become one; views that change nothing vanish; reductions
// of reductions merge.
#include <tightloop/passes/index.h>
#include <tightloop/passes/match.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace tightloop::passes {
namespace {

using ir::Ints;
using ir::Node;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

bool counts_up(const Ints& v) {
  for (std::size_t i = 0; i < v.size(); ++i)
    if (v[i] != static_cast<std::int64_t>(i)) return false;
  return true;
}

bool is_unit(const Dim& d) { return d.is(1); }

Shape without_units(const Shape& s) {
  std::vector<Dim> dims;
  std::remove_copy_if(s.begin(), s.end(), std::back_inserter(dims), is_unit);
  return Shape(std::move(dims));
}

/// For each dim of `from` that is not 1 its place in `to`, and -1 for those that are 1; nothing when they
/// differ in more than dims of 1.
std::optional<Ints> unit_map(const Shape& from, const Shape& to) {
  if (without_units(from) != without_units(to)) return std::nullopt;
  Ints map;
  std::int64_t at = 0;
  for (const Dim& d : from) {
    if (is_unit(d)) {
      map.push_back(-1);
      continue;
    }
    while (is_unit(to[index(at)])) ++at;
    map.push_back(at++);
  }
  return map;
}

/// Broadcast of `x` where dims of x that map to -1 are 1 and dropped first.
Tensor broadcast_dropping(const Tensor& x, const Ints& dims, const TensorType& type) {
  Ints kept;
  std::vector<Dim> left;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) continue;
    kept.push_back(dims[i]);
    left.push_back(x.dim(i));
  }
  if (kept.size() == dims.size()) return broadcast(x, kept, type);
  return broadcast(reshape(x, Shape(std::move(left))), kept, type);
}

Ints composed(const Ints& first, const Ints& then) {
  Ints out;
  for (const std::int64_t i : first) out.push_back(i < 0 ? -1 : then[index(i)]);
  return out;
}

Tensor simplify_reshape(const Node& node, const Inputs& x) {
  if (x[0].type() == node.type) return x[0];
  if (is(x[0], ops::reshape_op())) return reshape(in(x[0]), node.type.shape);
  if (is(x[0], ops::broadcast_op())) {
    const auto map = unit_map(x[0].shape(), node.type.shape);
    if (map) return broadcast_dropping(in(x[0]), composed(ints(x[0], "dims"), *map), node.type);
  }
  return {};
}

Tensor simplify_broadcast(const Node& node, const Inputs& x) {
  const Ints& dims = node.attrs.at<Ints>("dims");
  if (x[0].type() == node.type && counts_up(dims)) return x[0];
  if (is(x[0], ops::broadcast_op()))
    return broadcast(in(x[0]), composed(ints(x[0], "dims"), dims), node.type);
  if (is(x[0], ops::reshape_op())) {
    const auto map = unit_map(in(x[0]).shape(), x[0].shape());
    const bool already = without_units(x[0].shape()) == x[0].shape();
    const bool units_to_drop = without_units(in(x[0]).shape()) != in(x[0]).shape();
    if (map && !(already && units_to_drop))
      return broadcast_dropping(in(x[0]), composed(*map, dims), node.type);
  }
  return {};
}

/// The transpose moves below the broadcast, where there is less to move.
Tensor transpose_of_broadcast(const Node& node, const Tensor& view) {
  const Ints& perm = node.attrs.at<Ints>("perm");
  Ints place(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) place[index(perm[i])] = static_cast<std::int64_t>(i);
  Ints dims = composed(ints(view, "dims"), place);
  Ints order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return dims[index(a)] < dims[index(b)]; });
  std::sort(dims.begin(), dims.end());
  const Tensor& source = in(view);
  return broadcast(counts_up(order) ? source : permute(source, order), dims, node.type);
}

Tensor simplify_transpose(const Node& node, const Inputs& x) {
  const Ints& perm = node.attrs.at<Ints>("perm");
  if (counts_up(perm)) return x[0];
  if (is(x[0], ops::transpose_op())) return permute(in(x[0]), composed(perm, ints(x[0], "perm")));
  if (is(x[0], ops::broadcast_op())) return transpose_of_broadcast(node, x[0]);
  if (without_units(x[0].shape()) == without_units(node.type.shape) &&
      unit_map(x[0].shape(), node.type.shape)) {
    Ints moved;
    std::copy_if(perm.begin(), perm.end(), std::back_inserter(moved),
                 [&](auto i) { return !is_unit(x[0].dim(index(i))); });
    if (std::is_sorted(moved.begin(), moved.end())) return reshape(x[0], node.type.shape);
  }
  return {};
}

Tensor simplify_slice(const Node& node, const Inputs& x) {
  return x[0].type() == node.type ? x[0] : Tensor();
}

Tensor simplify_pad(const Node& node, const Inputs& x) { return x[0].type() == node.type ? x[0] : Tensor(); }

Tensor simplify_concat(const Node&, const Inputs& x) { return x.size() == 1 ? x[0] : Tensor(); }

Tensor with_axes(const Node& node, const Tensor& x, Ints axes) {
  return ir::make_node(*node.op, {x}, {{"axes", std::move(axes)}});
}

/// Axes of the outer reduction named in the inner one's input, with the inner one's.
Ints merged_axes(const Ints& inner, const Ints& outer, std::size_t rank) {
  Ints left;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(rank); ++i)
    if (std::find(inner.begin(), inner.end(), i) == inner.end()) left.push_back(i);
  Ints out = inner;
  for (const std::int64_t axis : outer) out.push_back(left[index(axis)]);
  std::sort(out.begin(), out.end());
  return out;
}

Tensor simplify_reduction(const Node& node, const Inputs& x) {
  const Ints& axes = node.attrs.at<Ints>("axes");
  if (std::all_of(axes.begin(), axes.end(), [&](auto i) { return is_unit(x[0].dim(index(i))); }))
    return x[0].dtype() == node.type.dtype ? reshape(x[0], node.type.shape) : Tensor();
  if (x[0].node().op == node.op)
    return with_axes(node, in(x[0]), merged_axes(ints(x[0], "axes"), axes, in(x[0]).rank()));
  if (!is(x[0], ops::transpose_op())) return {};
  const Ints& perm = ints(x[0], "perm");
  Ints moved = composed(axes, perm);
  std::sort(moved.begin(), moved.end());
  Ints left;
  for (const std::int64_t i : perm)
    if (!std::binary_search(moved.begin(), moved.end(), i)) left.push_back(i);
  return std::is_sorted(left.begin(), left.end()) ? with_axes(node, in(x[0]), std::move(moved)) : Tensor();
}

Tensor simplified(const Node& node, const Inputs& x) {
  if (is(node, ops::reshape_op())) return simplify_reshape(node, x);
  if (is(node, ops::broadcast_op())) return simplify_broadcast(node, x);
  if (is(node, ops::transpose_op())) return simplify_transpose(node, x);
  if (is(node, ops::slice_op())) return simplify_slice(node, x);
  if (is(node, ops::pad_op())) return simplify_pad(node, x);
  if (is(node, ops::concat_op())) return simplify_concat(node, x);
  const bool reduces =
      is(node, ops::reduce_sum_op()) || is(node, ops::reduce_max_op()) || is(node, ops::reduce_min_op());
  return reduces ? simplify_reduction(node, x) : Tensor();
}

}  // namespace

ir::Graph simplify_views(const ir::Graph& graph) { return ir::rewrite(graph, simplified); }

}  // namespace tightloop::passes
