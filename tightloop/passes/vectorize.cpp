// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ir/graph.h>
#include <tightloop/ops/attention_blocks.h>
#include <tightloop/ops/build.h>
#include <tightloop/ops/functions_data.h>
#include <tightloop/ops/index.h>
#include <tightloop/passes/vectorize.h>
#include <tightloop/passes/vectorize_windows.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

namespace tightloop {
namespace {

using ir::Node;

Shape in_front(const Dim& n, const Shape& s) {
  std::vector<Dim> dims{n};
  dims.insert(dims.end(), s.begin(), s.end());
  return Shape(std::move(dims));
}

/// What an axis in front changes in an attribute that counts axes, or has an entry for each of them.
struct AxisAttribute {
  std::string_view name;
  std::int64_t added;                 ///< to each number
  std::optional<std::int64_t> entry;  ///< of the new axis
};
constexpr AxisAttribute kAxisAttributes[] = {
    {"axis", 1, {}}, {"axes", 1, {}}, {"perm", 1, 0}, {"dims", 1, 0}, {"start", 0, 0},
    {"stop", 0, -1}, {"step", 0, 1},  {"low", 0, 0},  {"high", 0, 0},
};

const AxisAttribute* axis_attribute(std::string_view name) {
  const auto* found = std::find_if(std::begin(kAxisAttributes), std::end(kAxisAttributes),
                                   [&](const AxisAttribute& a) { return a.name == name; });
  return found == std::end(kAxisAttributes) ? nullptr : found;
}

ir::AttrValue shifted(const AxisAttribute& how, const ir::AttrValue& value) {
  if (const auto* axis = std::get_if<std::int64_t>(&value)) return *axis + how.added;
  ir::Ints numbers = std::get<ir::Ints>(value);
  for (auto& n : numbers) n += how.added;
  if (how.entry) numbers.insert(numbers.begin(), *how.entry);
  return numbers;
}

/// One symbol at most, so that the elements can be counted.
bool countable(const Shape& s) {
  return std::count_if(s.begin(), s.end(), [](const Dim& d) { return !d.is_static(); }) <= 1;
}

Tensor swap_last(const Tensor& x) { return transpose(x, -2, -1); }

class Vectorizer {
 public:
  Vectorizer(const std::vector<Tensor>& samples, const std::vector<Tensor>& values)
      : n_(values.at(0).dim(0)) {
    for (std::size_t i = 0; i < samples.size(); ++i) mapped_.emplace(samples[i].id(), values[i]);
  }

  void run(const std::vector<Tensor>& results) {
    for (const Node* node : ir::topological(results)) {
      if (mapped_.contains(node) || !std::any_of(node->inputs.begin(), node->inputs.end(),
                                                 [&](const Tensor& t) { return is_mapped(t); }))
        continue;
      const ir::ScopeOf scope(*node);
      mapped_.emplace(node, apply(*node));
    }
  }

  /// [n, ...], repeated when all entries share it.
  Tensor all(const Tensor& t) const {
    if (is_mapped(t)) return mapped_.at(t.id());
    ir::Ints dims(t.rank());
    std::iota(dims.begin(), dims.end(), 1);
    return ops::broadcast_dims(t, in_front(n_, t.shape()), dims);
  }

 private:
  bool is_mapped(const Tensor& t) const { return mapped_.contains(t.id()); }

  Tensor apply(const Node& node) {
    if (n_.is(0)) return zeros(in_front(n_, node.type.shape), node.type.dtype);
    if (node.op == &ops::matmul_op()) return product(node);
    if (node.op == &ops::attention_op()) return attended(node);
    if (reads_planes(node)) return windows(node);
    if (node.op == &ops::gather_op()) return gathered(node, 1);
    if (node.op == &ops::gather_window_op()) return gathered(node, node.attrs.at<std::int64_t>("length"));
    if (node.op == &ops::scatter_add_op()) return scattered(node);
    return counts_axes_only(node) ? with_axis(node) : entry_by_entry(node);
  }

  /// Elementwise ops, and views and reductions whose attributes are all known.
  static bool counts_axes_only(const Node& node) {
    if (node.op->kind == ir::OpKind::elementwise) return true;
    if (node.op->kind != ir::OpKind::view && node.op->kind != ir::OpKind::reduction) return false;
    return std::all_of(node.attrs.begin(), node.attrs.end(), [](const auto& a) {
      const bool whole =
          std::holds_alternative<std::int64_t>(a.second) || std::holds_alternative<ir::Ints>(a.second);
      return !whole || axis_attribute(a.first) != nullptr;
    });
  }

  Tensor with_axis(const Node& node) const {
    std::vector<Tensor> inputs;
    for (const Tensor& t : node.inputs) inputs.push_back(all(t));
    ir::Attrs attrs;
    for (const auto& [name, value] : node.attrs) {
      const AxisAttribute* how = node.op->kind == ir::OpKind::elementwise ? nullptr : axis_attribute(name);
      attrs.set(name, how == nullptr ? value : shifted(*how, value));
    }
    const TensorType type{node.type.dtype, in_front(n_, node.type.shape)};
    return ir::make_node(*node.op, std::move(inputs), std::move(attrs), node.op->typed ? &type : nullptr);
  }

  Tensor product(const Node& node) const {
    const bool ta = node.attrs.get("transpose_a", false), tb = node.attrs.get("transpose_b", false);
    const Tensor &a = node.inputs[0], &b = node.inputs[1];
    if (is_mapped(a) && is_mapped(b)) return ops::matmul_node(all(a), all(b), ta, tb);
    if (is_mapped(a)) return times_shared(all(a), ta, b, tb);
    return swap_last(times_shared(all(b), !tb, a, !ta));
  }

  /// x [n, .., M, K] times a matrix that all entries share: one product of n·M rows where they can be
  /// counted.
  Tensor times_shared(const Tensor& x, bool tx, const Tensor& w, bool tw) const {
    if (w.rank() > 2 || !countable(x.shape())) return ops::matmul_node(x, all(w), tx, tw);
    const Tensor rows = tx ? swap_last(x) : x;
    const Shape out{n_, rows.dim(1), w.dim(tw ? 0 : 1)};
    if (!countable(out)) return ops::matmul_node(x, all(w), tx, tw);
    const Tensor flat = reshape(rows, {Shape{n_, rows.dim(1)}.count(), rows.dim(2)});
    return reshape(ops::matmul_node(flat, w, false, tw), out);
  }

  /// For an index [n, I...] into rows 0..rows-1: that of the first row of its entry, when the entries' rows
  /// lie one after the other.
  Tensor first_rows(const Tensor& index, const Dim& rows) const {
    return iota(index.shape(), 0) * size(rows, DType::i64);
  }

  /// A row at each index, or a window of `length` rows.
  Tensor gathered(const Node& node, std::int64_t length) const {
    const Tensor &table = node.inputs[0], &index = node.inputs[1];
    const auto read = [&](const Tensor& from, const Tensor& at) {
      return node.op == &ops::gather_op() ? gather(from, at) : gather_window(from, at, length);
    };
    if (!is_mapped(table)) return read(table, all(index));
    const Dim rows = table.dim(0);
    const Tensor wide = cast(all(index), DType::i64);
    const Tensor inside =
        minimum(maximum(wide, full({}, 0, DType::i64)), size(rows, DType::i64) - static_cast<double>(length));
    std::vector<Dim> dims = table.shape().dims();
    dims[0] = Shape{n_, rows}.count();
    return read(reshape(all(table), Shape(std::move(dims))), inside + first_rows(wide, rows));
  }

  Tensor scattered(const Node& node) const {
    const Dim rows = node.type.shape[0];
    const Tensor index = cast(all(node.inputs[0]), DType::i64);
    const Tensor inside = logical_and(index >= 0.0, less(index, size(rows, DType::i64)));
    const Tensor to = select(inside, index + first_rows(index, rows), full(index.shape(), -1, DType::i64));
    return reshape(scatter_add(to, all(node.inputs[1]), Shape{n_, rows}.count()),
                   in_front(n_, node.type.shape));
  }

  static bool reads_planes(const Node& node) {
    return node.op->kind == ir::OpKind::window || node.op == &ops::plane_gather_op() ||
           node.op == &ops::plane_scatter_op();
  }

  Tensor windows(const Node& node) const {
    std::vector<Tensor> mapped;
    for (const Tensor& t : node.inputs) mapped.push_back(is_mapped(t) ? all(t) : Tensor());
    return vectorize_windows(node, n_, mapped);
  }

  /// One dim more in front, but for dropout: which weights it drops depends on their place among all, so the
  /// draws are made for one entry.
  Tensor attended(const Node& node) {
    if (node.attrs.get<double>("dropout", 0) != 0) {
      const ops::AttentionValue value = ops::attention_by_blocks(ops::attention_parts(node, node.inputs));
      const Tensor both = concat({value.output, value.logsumexp}, -1);
      lowered_.push_back(both);
      run({both});
      return all(both);
    }
    const std::size_t read = node.inputs.size() % 2 == 0 ? 4 : 3;  // with or without a mask
    std::vector<Tensor> inputs;
    for (const Tensor& t : std::span(node.inputs).first(read))
      inputs.push_back(inputs.size() == 3 && !is_mapped(t) ? unsqueeze(t, 0) : all(t));
    return ir::make_node(*node.op, std::move(inputs), node.attrs);
  }

  Tensor entry_by_entry(const Node& node) const {
    if (!n_.is_static())
      throw Error("vmap: " + std::string(node.op->name) +
                  " has no rule for a mapped axis of symbolic size; map over a static axis");
    std::vector<Tensor> entries;
    for (std::int64_t i = 0; i < n_.factor; ++i) {
      std::vector<Tensor> inputs;
      for (const Tensor& t : node.inputs)
        inputs.push_back(is_mapped(t) ? reshape(slice(all(t), 0, i, i + 1), t.shape()) : t);
      entries.push_back(unsqueeze(
          ir::make_node(*node.op, std::move(inputs), node.attrs, node.op->typed ? &node.type : nullptr), 0));
    }
    return concat(std::move(entries), 0);
  }

  Dim n_;
  ir::NodeMap mapped_;
  std::vector<Tensor> lowered_;  ///< keeps what mapped_ names
};

}  // namespace

std::vector<Tensor> vectorize(const std::vector<Tensor>& results, const std::vector<Tensor>& samples,
                              const std::vector<Tensor>& values) {
  Vectorizer vectorizer(samples, values);
  vectorizer.run(results);
  std::vector<Tensor> out;
  for (const Tensor& t : results) out.push_back(vectorizer.all(t));
  return out;
}

}  // namespace tightloop
