// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/random.h>
#include <tightloop/ops/attention_blocks.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tightloop::ops {
namespace {

void check_mask(const InferArgs& a, const TensorType& mask, const Shape& scores) {
  expect(a, mask.dtype == DType::boolean || mask.dtype == a.inputs[0].dtype(),
         "the mask must be bool or of the dtype of q");
  expect(a, mask.shape.rank() == scores.rank(), "the mask must have the rank of q");
  for (std::size_t d = 0; d < scores.rank(); ++d)
    expect(a, mask.shape[d].is(1) || mask.shape[d] == scores[d], "the mask must stretch to [.., L, S]");
}

TensorType infer(const InferArgs& a) {
  expect(a, a.inputs.size() >= 3 && a.inputs.size() <= 6,
         "takes q, k, v, perhaps a mask, perhaps seed and step");
  const TensorType &q = a.inputs[0].type(), &k = a.inputs[1].type(), &v = a.inputs[2].type();
  const std::size_t rank = q.shape.rank();
  expect(a, is_compute_float(q.dtype) && k.dtype == q.dtype && v.dtype == q.dtype,
         "needs f32 or f64 (cast first)");
  expect(a, rank >= 2 && k.shape.rank() == rank && v.shape.rank() == rank, "needs equal ranks of 2 or more");
  for (std::size_t d = 0; d + 2 < rank; ++d)
    expect(a, k.shape[d] == q.shape[d] && v.shape[d] == q.shape[d], "leading dims must be equal");
  expect(a, q.shape[rank - 1] == k.shape[rank - 1], "q and k must have equal last dims");
  expect(a, k.shape[rank - 2] == v.shape[rank - 2], "k and v must have equal numbers of columns");
  for (const Dim& d : {q.shape[rank - 2], k.shape[rank - 2], q.shape[rank - 1], v.shape[rank - 1]})
    expect(a, d.is_static() && d.factor > 0, "rows, columns and features must be known and at least 1");
  auto dims = q.shape.dims();
  dims[rank - 1] = k.shape[rank - 2];
  if (a.inputs.size() % 2 == 0) check_mask(a, a.inputs[3].type(), Shape(dims));
  const double dropout = a.attrs.get<double>("dropout", 0);
  expect(a, dropout >= 0 && dropout < 1 && (a.inputs.size() >= 5 || dropout == 0),
         "dropout must be in [0, 1) and needs seed and step");
  dims[rank - 1] = v.shape[rank - 1].factor + 1;
  return {q.dtype, Shape(std::move(dims))};
}

/// The plain meaning, one row of scores at a time.
class Rows {
 public:
  explicit Rows(const EvalArgs& e)
      : e_(e),
        a_(attention_parts(e.node, e.node.inputs)),
        features_(e.inputs[0]->dims().back()),
        width_(e.inputs[2]->dims().back()),
        scores_(static_cast<std::size_t>(a_.columns())) {
    if (!a_.mask.defined()) return;
    strides_ = row_major_strides(e.inputs[3]->dims());
    for (std::size_t d = 0; d < strides_.size(); ++d)
      if (e.inputs[3]->dims()[d] == 1) strides_[d] = 0;
    walk(scores_dims(), strides_, 0, [&](std::int64_t, std::int64_t at) { mask_at_.push_back(at); });
  }

  void compute() {
    const std::int64_t all = e_.inputs[0]->count() / features_;
    for (std::int64_t row = 0; row < all; ++row) {
      fill_scores(row);
      weigh(row);
    }
  }

 private:
  std::vector<std::int64_t> scores_dims() const {
    auto dims = e_.inputs[0]->dims();
    dims.back() = a_.columns();
    return dims;
  }
  /// Of k and v, in the matrix that row `row` of q belongs to.
  std::int64_t row_of_column(std::int64_t row, std::int64_t column) const {
    return row / a_.rows() * a_.columns() + column;
  }

  double score(std::int64_t row, std::int64_t column) const {
    double s = 0;
    for (std::int64_t i = 0; i < features_; ++i)
      s += e_.inputs[0]->at(row * features_ + i) *
           e_.inputs[1]->at(row_of_column(row, column) * features_ + i);
    s *= a_.scale;
    if (a_.causal && column > row % a_.rows()) return -std::numeric_limits<double>::infinity();
    if (!a_.mask.defined()) return s;
    const std::int64_t at = mask_at_[static_cast<std::size_t>(row * a_.columns() + column)];
    if (a_.mask.dtype() != DType::boolean) return s + e_.inputs[3]->at(at);
    return e_.inputs[3]->int_at(at) != 0 ? s : -std::numeric_limits<double>::infinity();
  }

  void fill_scores(std::int64_t row) {
    for (std::int64_t c = 0; c < a_.columns(); ++c) scores_[static_cast<std::size_t>(c)] = score(row, c);
  }

  bool kept(std::int64_t row, std::int64_t column) const {
    if (a_.dropout == 0) return true;
    const auto i = static_cast<std::uint64_t>(row * a_.columns() + column);
    const auto words = philox_block(static_cast<std::uint64_t>(e_.inputs[e_.inputs.size() - 2]->int_at(0)),
                                    static_cast<std::uint32_t>(a_.stream),
                                    static_cast<std::uint64_t>(e_.inputs.back()->int_at(0)), i / 4);
    return uniform_f32(words[i % 4]) < static_cast<float>(1 - a_.dropout);
  }

  void weigh(std::int64_t row) {
    double most = scores_[0], total = 0;
    for (const double s : scores_) most = s > most || std::isnan(s) ? s : most;
    if (std::isinf(most) && most < 0) most = 0;
    std::vector<double> out(static_cast<std::size_t>(width_), 0);
    for (std::int64_t c = 0; c < a_.columns(); ++c) {
      const double e = std::exp(scores_[static_cast<std::size_t>(c)] - most);
      total += e;
      for (std::int64_t i = 0; i < width_ && kept(row, c); ++i)
        out[static_cast<std::size_t>(i)] += e * e_.inputs[2]->at(row_of_column(row, c) * width_ + i);
    }
    if (total == 0) total = 1;
    const double scale = 1 / (total * (1 - a_.dropout));
    for (std::int64_t i = 0; i < width_; ++i)
      e_.out.set(row * (width_ + 1) + i, out[static_cast<std::size_t>(i)] * scale);
    e_.out.set(row * (width_ + 1) + width_, std::log(total) + most);
  }

  const EvalArgs& e_;
  AttentionParts a_;
  std::int64_t features_, width_;
  std::vector<double> scores_;
  std::vector<std::int64_t> strides_, mask_at_;
};

/// Columns [start, stop) of a gradient; empty where they are zeros that a slice's gradient put there.
Tensor columns(const Tensor& g, std::int64_t start, std::int64_t stop) {
  if (g.node().op != &pad_op()) return slice(g, -1, start, stop);
  const std::int64_t first = g.node().attrs.at<Ints>("low").back();
  const std::int64_t last = first + in(g).dim(g.rank() - 1).factor;
  if (in(g).shape() == slice(g, -1, first, last).shape()) {
    if (first == start && last == stop) return in(g);
    if ((last <= start || first >= stop) && g.node().attrs.at<double>("value") == 0) return {};
  }
  return slice(g, -1, start, stop);
}

Tensors vjp(const Tensor& y, const Tensor& g) {
  const AttentionParts a = attention_parts(y.node(), y.node().inputs);
  const std::int64_t width = y.dim(y.rank() - 1).factor - 1;
  Tensor g_output = columns(g, 0, width);
  const AttentionValue value{slice(y, -1, 0, width), slice(y, -1, width, width + 1)};
  if (!g_output.defined()) g_output = zeros(value.output.shape(), y.dtype());
  return attention_gradients(a, value, g_output, columns(g, width, width + 1));
}

Samples samples() {
  const Dim b = Dim::batch();
  const auto f32 = [](std::initializer_list<Dim> dims) { return TensorType{DType::f32, Shape(dims)}; };
  const TensorType word{DType::i64, {}};
  const Sample plain{.inputs = {f32({b, 2, 5, 3}), f32({b, 2, 7, 3}), f32({b, 2, 7, 4})},
                     .attrs = {{"scale", 0.6}}};
  Sample masked = plain, shifted = plain, causal = plain, dropped = plain;
  masked.inputs.push_back({DType::boolean, {b, 1, 1, 7}});
  shifted.inputs.push_back(f32({1, 2, 5, 7}));
  causal.attrs.set("causal", true);
  dropped.inputs.insert(dropped.inputs.end(), {word, word});
  dropped.attrs.set("dropout", 0.3);
  dropped.attrs.set("stream", std::int64_t{4});
  const Sample blocks{.inputs = {f32({70, 2}), f32({67, 2}), f32({67, 2}), f32({1, 67}), word, word},
                      .attrs = {{"scale", 1.0}, {"causal", true}, {"dropout", 0.2}}};
  return {plain,
          masked,
          shifted,
          causal,
          dropped,
          blocks,
          {.inputs = {f32({1, 1}), f32({1, 1}), f32({1, 1})}, .attrs = {{"scale", 1.0}}}};
}

}  // namespace

const ir::OpDef& attention_op() {
  static const ir::OpDef op{
      .name = "attention",
      .doc =
          "softmax(scale * q k^T + mask) v for q [.., L, E], k [.., S, E], v [.., S, V], then the logarithm "
          "of the sum "
          "of the exponentials of the scores: [.., L, V + 1]. After v may come a mask (bool: true takes "
          "part; else "
          "added), then seed and step for dropout. 0 for a row that sees no column.",
      .kind = ir::OpKind::indexing,
      .arity = -1,
      .attrs = {{"scale", 1.0},
                {"causal", false, false},
                {"dropout", 0.0, false},
                {"stream", std::int64_t{0}, false}},
      .infer = infer,
      .evaluate = [](const EvalArgs& e) { Rows(e).compute(); },
      .vjp = vjp,
      .precision = ir::Precision::low,
      .samples = samples,
  };
  return op;
}

}  // namespace tightloop::ops
