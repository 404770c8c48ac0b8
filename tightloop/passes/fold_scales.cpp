// SPDX-License-Identifier: Apache-2.0
// What multiplies each channel that a convolution makes multiplies its weight instead, and what is added
// before and after becomes one sum: so a BatchNorm that evaluates is part of the convolution before it.
// Rounded differently, hence within a few bits of the result. Only where nothing else reads what stands
// between (in training the gradient of the scale does), and where the weight has no more elements than one
// sample's results, so that it pays for a batch of one too. (Behind a matrix product the scale is an epilogue
// already: nothing would be saved.)
#include <tightloop/passes/index.h>
#include <tightloop/passes/match.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tightloop::passes {
namespace {

using ir::Ints;
using ir::Node;

bool convolves(const Node& n) {
  return is(n, ops::convolution_op()) || is(n, ops::convolution_input_grad_op());
}

bool pays(const Node& convolution) {
  return convolution.inputs[1].shape().count().factor <= convolution.type.shape.count(Sizes{});
}

/// x [B, C, ...] as a vector [C] that it repeats, empty when it is none.
Tensor channels_of(const Tensor& x) {
  const TensorType vector{x.dtype(), {x.dim(1)}};
  if (splat(x)) return constant(*x.node().attrs.find("value"), vector);
  if (!is(x, ops::broadcast_op())) return {};
  const Tensor& source = in(x);
  const Ints& to = ints(x, "dims");
  for (std::size_t i = 0; i < to.size(); ++i)
    if (!source.dim(i).is(1) && to[i] != 1) return {};
  return source.shape().count() == x.dim(1) ? reshape(source, vector.shape) : Tensor();
}

Tensor repeated(const Tensor& channels, const TensorType& type) { return broadcast(channels, {1}, type); }

/// The weight of a convolution times a factor for each channel of its results.
Tensor scaled_weight(const Node& convolution, const Tensor& scale) {
  const Tensor& w = convolution.inputs[1];
  if (is(convolution, ops::convolution_op())) return mul(w, broadcast(scale, {0}, w.type()));
  // [O, C/groups, ...]: channel c of the result is made by the rows of its group.
  const std::int64_t groups = convolution.attrs.get("groups", std::int64_t{1});
  std::vector<Dim> dims{groups, w.dim(0).factor / groups};
  dims.insert(dims.end(), w.shape().begin() + 1, w.shape().end());
  const TensorType apart{w.dtype(), Shape(std::move(dims))};
  const Tensor factors = broadcast(reshape(scale, {groups, w.dim(1)}), {0, 2}, apart);
  return reshape(mul(reshape(w, apart.shape), factors), w.shape());
}

Tensor with_weight(const Node& n, const Tensor& weight) {
  return ir::make_node(*n.op, {n.inputs[0], weight}, n.attrs, n.op->typed ? &n.type : nullptr);
}

/// A convolution plus, perhaps, a vector [C] along its channels.
struct Sum {
  Tensor convolution, shift;
};

Sum sum_of(const Tensor& x) {
  if (convolves(x.node())) return {x, {}};
  const bool subtracts = is(x, ops::sub_op());
  if (!subtracts && !is(x, ops::add_op())) return {};
  for (const std::size_t side : {0U, 1U}) {
    if ((side == 1 && subtracts) || !convolves(in(x, side).node())) continue;
    const Tensor shift = channels_of(in(x, 1 - side));
    if (shift.defined()) return {in(x, side), subtracts ? neg(shift) : shift};
  }
  return {};
}

class Folder {
 public:
  explicit Folder(const ir::Graph& graph) {
    std::unordered_map<const Node*, int> readers;
    const auto nodes = ir::topological(graph);
    for (const Node* n : nodes)
      for (const Tensor& t : n->inputs) ++readers[t.id()];
    for (const auto& o : graph.outputs) readers[o.value.id()] += 2;
    for (const Node* n : nodes)
      if (readers[n] == 1 && (convolves(*n) || (sums_or_scales(*n) && reads_chain(*n)))) chains_.insert(n);
  }

  Tensor operator()(const Node& node, const Inputs& x) const {
    if (!sums_or_scales(node)) return {};
    const bool scales = is(node, ops::mul_op()), subtracts = is(node, ops::sub_op());
    for (const std::size_t side : {0U, 1U}) {
      if ((side == 1 && subtracts) || !chains_.contains(node.inputs[side].id())) continue;
      const Sum sum = sum_of(x[side]);
      if (!sum.convolution.defined()) continue;
      const Node& convolution = sum.convolution.node();
      const Tensor other = channels_of(x[1 - side]);
      if (!other.defined() || (scales ? !pays(convolution) : !sum.shift.defined())) continue;
      if (!scales)
        return sum.convolution + repeated(subtracts ? sum.shift - other : sum.shift + other, node.type);
      const Tensor scaled = with_weight(convolution, scaled_weight(convolution, other));
      return sum.shift.defined() ? scaled + repeated(sum.shift * other, node.type) : scaled;
    }
    return {};
  }

 private:
  static bool sums_or_scales(const Node& n) {
    return is(n, ops::add_op()) || is(n, ops::sub_op()) || is(n, ops::mul_op());
  }
  bool reads_chain(const Node& n) const {
    return std::any_of(n.inputs.begin(), n.inputs.end(),
                       [&](const Tensor& t) { return chains_.contains(t.id()); });
  }

  std::unordered_set<const Node*> chains_;  ///< read once each, from a convolution upwards
};

}  // namespace

ir::Graph fold_scales(const ir::Graph& graph) { return ir::rewrite(graph, Folder(graph)); }

}  // namespace tightloop::passes
