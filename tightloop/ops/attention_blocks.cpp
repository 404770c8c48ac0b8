// SPDX-License-Identifier: Apache-2.0
// Rows are taken in blocks for the output and for the gradient of q, columns in blocks for those of k and v:
// each piece is finished before the next begins, so that no weights outlive their block. (One sweep for all
// three, as in Dao et al., "FlashAttention", 2022, needs fewer products, but sums that are updated in place.)
#include <tightloop/ops/attention_blocks.h>

#include <tightloop/ops/build.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <limits>

namespace tightloop::ops {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

struct Range {
  std::int64_t start, stop;
  std::int64_t size() const { return stop - start; }
};

struct Tile {
  Range rows, columns;
};

std::vector<Range> blocks_of(std::int64_t n, std::int64_t size) {
  std::vector<Range> out;
  for (std::int64_t i = 0; i < n; i += size) out.push_back({i, std::min(i + size, n)});
  return out;
}

/// x [..., N, M] → its rows.
Tensor cut(const Tensor& x, Range rows) { return slice(x, -2, rows.start, rows.stop); }
Tensor cut_columns(const Tensor& x, Range columns) { return slice(x, -1, columns.start, columns.stop); }

/// The columns that some of these rows see, and the rows that see some of these columns (none: an empty
/// range).
Tile seen_by(const AttentionParts& a, Range rows) {
  return {rows, {0, a.causal ? std::min(rows.stop, a.columns()) : a.columns()}};
}
Tile seeing(const AttentionParts& a, Range columns) {
  return {{a.causal ? std::min(columns.start, a.rows()) : 0, a.rows()}, columns};
}

Tensor mask_of(const AttentionParts& a, const Tile& t) {
  Tensor m = a.mask;
  if (!m.dim(m.rank() - 2).is(1)) m = cut(m, t.rows);
  return m.dim(m.rank() - 1).is(1) ? m : cut_columns(m, t.columns);
}

Tensor scores(const AttentionParts& a, const Tile& t) {
  Tensor s = matmul_node(cut(a.q, t.rows) * a.scale, cut_columns(a.k_turned, t.columns), false, false);
  const Tensor nothing = number_like(s, kNothing);
  if (a.mask.defined()) {
    const Tensor m = mask_of(a, t);
    s = m.dtype() == DType::boolean ? select(broadcast_to(m, s.shape()), s, nothing) : s + m;
  }
  if (!a.causal || t.columns.stop <= t.rows.start + 1) return s;
  // Of the whole shape, so that it is computed on the spot and not kept.
  const auto last = static_cast<std::int64_t>(s.rank()) - 1;
  const double apart = static_cast<double>(t.columns.start - t.rows.start);
  const Tensor row = iota(s.shape(), last - 1, DType::i32), column = iota(s.shape(), last, DType::i32);
  return select(row >= column + apart, s, nothing);
}

/// Weights after dropout; the same elements are kept in every tile.
Tensor dropped(const AttentionParts& a, const Tensor& weights, const Tile& t) {
  if (a.dropout == 0) return weights;
  const TensorType type{DType::boolean, weights.shape()};
  const Tensor keep = ir::make_node(random_bernoulli_op(), {a.seed, a.step},
                                    {{"p", 1 - a.dropout},
                                     {"stream", a.stream},
                                     {"within", Ints{a.rows(), a.columns()}},
                                     {"start", Ints{t.rows.start, t.columns.start}}},
                                    &type);
  return select(keep, weights * (1 / (1 - a.dropout)), number_like(weights, 0));
}

AttentionValue rows_of(const AttentionParts& a, const Tile& t) {
  const Tensor s = scores(a, t);
  Tensor most = stop_gradient(amax(s, {-1}, true));
  if (a.mask.defined()) most = select(most == kNothing, number_like(most, 0), most);
  const Tensor e = exp(s - most);
  Tensor total = sum(e, {-1}, true);
  if (a.mask.defined()) total = select(total == 0.0, number_like(total, 1), total);
  return {matmul_node(dropped(a, e, t), cut(a.v, t.columns), false, false) / total, log(total) + most};
}

/// What the gradients of a tile need.
struct Slopes {
  Tensor weights;  ///< after dropout
  Tensor scores;   ///< the gradient of the scores
};

class Backward {
 public:
  Backward(const AttentionParts& a, const AttentionValue& y, const Tensor& g, const Tensor& g_logsumexp)
      : a_(a), y_(y), g_(g), inner_(sum(g * y.output, {-1}, true)) {
    if (g_logsumexp.defined()) inner_ = inner_ - g_logsumexp;
  }

  Tensor q() const {
    Tensors parts;
    for (const Range rows : blocks_of(a_.rows(), kAttentionRows)) {
      const Tile t = seen_by(a_, rows);
      parts.push_back(matmul_node(at(t).scores, cut(a_.k, t.columns), false, false) * a_.scale);
    }
    return concat(std::move(parts), -2);
  }

  /// The gradients of k and v are parts of one tensor, so that both are made of a block's weights before the
  /// next.
  std::pair<Tensor, Tensor> k_and_v() const {
    const bool side_by_side = a_.k.shape() == a_.v.shape();
    Tensors parts;
    for (const Range columns : blocks_of(a_.columns(), kAttentionRows)) {
      const auto [k, v] = of_columns(seeing(a_, columns));
      parts.push_back(side_by_side ? stack({k, v}, 0) : concat({k, v}, -1));
    }
    const Tensor both = concat(std::move(parts), -2);
    if (side_by_side) return {squeeze(slice(both, 0, 0, 1), 0), squeeze(slice(both, 0, 1, 2), 0)};
    const std::int64_t width = a_.k.dim(a_.k.rank() - 1).factor;
    return {slice(both, -1, 0, width), slice(both, -1, width, both.dim(both.rank() - 1).factor)};
  }

  /// In blocks of another height than q's: these are other nodes, which do not keep those of q alive.
  Tensor mask() const {
    const std::size_t rank = a_.mask.rank();
    Tensors parts;
    for (const Range rows : blocks_of(a_.rows(), kAttentionRows / 2)) {
      const Tile t = seen_by(a_, rows);
      Axes none(rank, 0), after(rank, 0);
      after[rank - 1] = a_.columns() - t.columns.stop;
      parts.push_back(summed(pad(at(t).scores, none, after)));
    }
    const Tensor all = concat(std::move(parts), -2);
    return a_.mask.dim(rank - 2).is(1) ? sum(all, {-2}, true) : all;
  }

 private:
  Slopes at(const Tile& t) const {
    const Tensor p = exp(scores(a_, t) - cut(y_.logsumexp, t.rows));
    const Tensor g = matmul_node(cut(g_, t.rows), cut_columns(a_.v_turned, t.columns), false, false);
    return {dropped(a_, p, t), p * (dropped(a_, g, t) - cut(inner_, t.rows))};
  }

  std::pair<Tensor, Tensor> of_columns(const Tile& t) const {
    if (t.rows.size() == 0) {
      const Tensor k = cut(a_.k, t.columns), v = cut(a_.v, t.columns);
      return {zeros(k.shape(), k.dtype()), zeros(v.shape(), v.dtype())};
    }
    const Slopes s = at(t);
    return {matmul_node(s.scores, cut(a_.q, t.rows) * a_.scale, true, false),
            matmul_node(s.weights, cut(g_, t.rows), true, false)};
  }

  /// Over the dims along which the mask was stretched.
  Tensor summed(const Tensor& tile) const {
    Axes axes;
    for (std::size_t d = 0; d < tile.rank(); ++d)
      if (a_.mask.dim(d).is(1) && !tile.dim(d).is(1)) axes.push_back(static_cast<std::int64_t>(d));
    return axes.empty() ? tile : sum(tile, axes, true);
  }

  const AttentionParts& a_;
  const AttentionValue& y_;
  Tensor g_;
  Tensor inner_;  ///< Σ over columns of weight · its gradient, less what reaches logsumexp: [..., L, 1]
};

}  // namespace

AttentionParts attention_parts(const ir::Node& node, const Tensors& inputs) {
  AttentionParts a;
  a.q = inputs[0], a.k = inputs[1], a.v = inputs[2];
  a.k_turned = transpose(a.k, -2, -1);
  a.v_turned = transpose(a.v, -2, -1);
  if (inputs.size() % 2 == 0) a.mask = inputs[3];
  if (inputs.size() >= 5) {
    a.seed = inputs[inputs.size() - 2];
    a.step = inputs[inputs.size() - 1];
  }
  a.scale = node.attrs.at<double>("scale");
  a.causal = node.attrs.get<bool>("causal", false);
  a.dropout = node.attrs.get<double>("dropout", 0);
  a.stream = node.attrs.get<std::int64_t>("stream", 0);
  return a;
}

AttentionValue attention_by_blocks(const AttentionParts& a) {
  Tensors outputs, sums;
  for (const Range rows : blocks_of(a.rows(), kAttentionRows)) {
    const AttentionValue block = rows_of(a, seen_by(a, rows));
    outputs.push_back(block.output);
    sums.push_back(block.logsumexp);
  }
  return {concat(std::move(outputs), -2), concat(std::move(sums), -2)};
}

Tensors attention_gradients(const AttentionParts& a, const AttentionValue& y, const Tensor& g_output,
                            const Tensor& g_logsumexp) {
  const Backward backward(a, y, g_output, g_logsumexp);
  const auto [k, v] = backward.k_and_v();
  Tensors out{backward.q(), k, v};
  if (a.mask.defined()) out.push_back(a.mask.dtype() == DType::boolean ? Tensor() : backward.mask());
  if (a.seed.defined()) out.resize(out.size() + 2);
  return out;
}

}  // namespace tightloop::ops
