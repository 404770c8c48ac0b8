// SPDX-License-Identifier: Apache-2.0
#pragma once
// Seeded random graphs over the whole op set, with arrays to run them on. Values stay small, and steps
// (floor, comparisons, conversions to integers) are only taken of values that every backend gets exactly, so
// that two correct backends agree to rounding.
#include <tightloop/base/array.h>
#include <tightloop/ir/graph.h>
#include <tightloop/ops/attention.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/functions_data.h>
#include <tightloop/ops/functions_spatial.h>
#include <tightloop/passes/differentiate.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tightloop::testing {

struct RandomGraph {
  ir::Graph graph;
  std::vector<Array> inputs;
  Sizes sizes;
};

struct RandomGraphOptions {
  int ops = 14;
  bool gradients = false;  ///< outputs are gradients of a sum of what was computed
  bool specials = false;   ///< some inputs hold NaN, infinities and zeros of both signs
};

class RandomGraphMaker {
 public:
  RandomGraphMaker(std::uint64_t seed, RandomGraphOptions options) : rng_(seed), options_(options) {
    const std::int64_t batches[] = {1, 3, 17, 33};
    out_.sizes = {batches[pick(4)], 1};
    out_.graph.name = "random" + std::to_string(seed);
    const std::size_t inputs = 2 + pick(4);
    for (std::size_t i = 0; i < inputs; ++i) add_input(any_shape(), any_dtype());
    add_input(any_shape(), DType::f32);
    for (int i = 0; i < options_.ops; ++i) add_op();
    add_outputs();
  }

  RandomGraph take() { return std::move(out_); }

 private:
  static constexpr std::int64_t kElements = 6000;

  struct Value {
    Tensor tensor;
    double bound;  ///< no element is larger
    bool exact;    ///< the same bits on every correct backend
  };

  std::size_t pick(std::size_t n) { return static_cast<std::size_t>(rng_() % n); }
  bool chance(int percent) { return pick(100) < static_cast<std::size_t>(percent); }
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(rng_() >> 11) * 0x1p-53;
  }

  std::int64_t count(const Shape& s) const { return s.count(out_.sizes); }
  /// Few elements, and not B·B of them.
  bool small(const Shape& s) const {
    return count(s) <= kElements &&
           std::count_if(s.begin(), s.end(), [](const Dim& d) { return !d.is_static(); }) < 2;
  }

  DType any_dtype() {
    const DType types[] = {DType::f32, DType::f32, DType::f32, DType::f64,
                           DType::i32, DType::i64, DType::u8,  DType::boolean};
    return types[pick(8)];
  }

  Dim any_dim() {
    const std::int64_t dims[] = {1, 1, 2, 3, 3, 4, 16, 17};
    return dims[pick(8)];
  }

  Shape any_shape() {
    if (chance(8)) return Shape({chance(50) ? 257 : 300});
    std::vector<Dim> dims;
    const std::size_t rank = pick(4);
    for (std::size_t i = 0; i < rank; ++i) dims.push_back(any_dim());
    if (chance(50)) dims.insert(dims.begin(), Dim::batch());
    Shape s(dims);
    return small(s) ? s : Shape({Dim::batch(), 3});
  }

  void add_input(const Shape& shape, DType dtype) {
    const std::string name = "x" + std::to_string(out_.inputs.size());
    out_.graph.inputs.push_back(input(name, "argument", {dtype, shape}));
    Array a(dtype, shape.values(out_.sizes));
    for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, element(dtype));
    out_.inputs.push_back(std::move(a));
    values_.push_back({out_.graph.inputs.back(), is_floating(dtype) ? 2.0 : 9.0, true});
  }

  double element(DType dtype) {
    if (!is_floating(dtype)) return static_cast<double>(pick(dtype == DType::boolean ? 2 : 10));
    const double inf = std::numeric_limits<double>::infinity();
    const double specials[] = {std::nan(""), inf, -inf, 0.0, -0.0, 1.0};
    return options_.specials && chance(10) ? specials[pick(6)] : uniform(-2, 2);
  }

  template <class Accept>
  const Value* find(Accept accept) {
    std::vector<const Value*> fitting;
    for (const Value& v : values_)
      if (accept(v)) fitting.push_back(&v);
    return fitting.empty() ? nullptr : fitting[pick(fitting.size())];
  }
  static bool computes(const Value& v) { return is_compute_float(v.tensor.dtype()); }
  Value some_float() {
    const Value* v = find(computes);
    return *v;
  }

  void add(Tensor t, double bound, bool exact) {
    if (!small(t.shape())) return;
    if (!(bound < 50) && is_floating(t.dtype())) {
      t = tanh(t * (1 / std::min(bound, 1e6)));
      bound = 1;
      exact = false;
    }
    values_.push_back({std::move(t), bound, exact});
  }

  void add_op() {
    using Step = void (RandomGraphMaker::*)();
    static constexpr Step steps[] = {
        &RandomGraphMaker::unary,    &RandomGraphMaker::unary,     &RandomGraphMaker::binary,
        &RandomGraphMaker::binary,   &RandomGraphMaker::binary,    &RandomGraphMaker::stepwise,
        &RandomGraphMaker::choice,   &RandomGraphMaker::reduction, &RandomGraphMaker::reduction,
        &RandomGraphMaker::view,     &RandomGraphMaker::view,      &RandomGraphMaker::join,
        &RandomGraphMaker::product,  &RandomGraphMaker::product,   &RandomGraphMaker::indexing,
        &RandomGraphMaker::integers, &RandomGraphMaker::convert,   &RandomGraphMaker::source,
        &RandomGraphMaker::identity, &RandomGraphMaker::windows};
    (this->*steps[pick(std::size(steps))])();
  }

  void unary() {
    const Value v = some_float();
    const Tensor& x = v.tensor;
    const Tensor positive = abs(x) + 0.5;
    const double b = v.bound;
    switch (pick(18)) {
      case 0:
        return add(neg(x), b, v.exact);
      case 1:
        return add(abs(x), b, v.exact);
      case 2:
        return add(sqrt(positive), b + 1, false);
      case 3:
        return add(rsqrt(positive), 2, false);
      case 4:
        return b <= 3 ? add(exp(x), std::exp(b), false) : add(exp(neg(positive)), 1, false);
      case 5:
        return b <= 3 ? add(expm1(x), std::exp(b), false) : add(expm1(neg(positive)), 1, false);
      case 6:
        return add(log(positive), b + 1, false);
      case 7:
        return add(log1p(positive), b + 1, false);
      case 8:
        return add(sin(x), 1, false);
      case 9:
        return add(cos(x), 1, false);
      case 10:
        return add(atan(x), 2, false);
      case 11:
        return b <= 3 ? add(sinh(x), std::exp(b), false) : add(tanh(x), 1, false);
      case 12:
        return b <= 3 ? add(cosh(x), std::exp(b), false) : add(tanh(x), 1, false);
      case 13:
        return add(tanh(x), 1, false);
      case 14:
        return add(erf(x), 1, false);
      case 15:
        return add(sigmoid(x), 1, false);
      case 16:
        return add(square(x), b * b, false);
      default:
        return add(relu(x), b, v.exact);
    }
  }

  static bool broadcastable(const Shape& a, const Shape& b) {
    for (std::size_t i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
      const Dim& da = a[a.rank() - i];
      const Dim& db = b[b.rank() - i];
      if (da != db && !da.is(1) && !db.is(1)) return false;
    }
    return true;
  }

  Value partner(const Value& a) {
    const Value* b = find([&](const Value& v) {
      return v.tensor.dtype() == a.tensor.dtype() && broadcastable(v.tensor.shape(), a.tensor.shape());
    });
    return b != nullptr && !chance(15) ? *b : Value{scalar(computes(a) ? 1.5 : 3, a.tensor.dtype()), 3, true};
  }

  void binary() {
    const Value a = some_float();
    const Value b = partner(a);
    const bool exact = a.exact && b.exact;
    const Tensor positive = abs(b.tensor) + 0.5;
    switch (pick(9)) {
      case 0:
        return add(a.tensor + b.tensor, a.bound + b.bound, false);
      case 1:
        return add(a.tensor - b.tensor, a.bound + b.bound, false);
      case 2:
        return add(a.tensor * b.tensor, a.bound * b.bound, false);
      case 3:
        return add(a.tensor / positive, a.bound * 2, false);
      case 4:
        return add(minimum(a.tensor, b.tensor), std::max(a.bound, b.bound), exact);
      case 5:
        return add(maximum(a.tensor, b.tensor), std::max(a.bound, b.bound), exact);
      case 6:
        return add(pow(positive, tanh(a.tensor)), b.bound + 2.5, false);
      case 7:
        return add(div_root(a.tensor, positive, scalar(0.5, positive.dtype())), a.bound, false);
      default:
        return add(atan2(a.tensor, positive), 4, false);
    }
  }

  /// Functions with steps.
  void stepwise() {
    const Value* v = find([](const Value& x) { return computes(x) && x.exact; });
    const Tensor& x = v->tensor;
    switch (pick(7)) {
      case 0:
        return add(floor(x), v->bound + 1, true);
      case 1:
        return add(ceil(x), v->bound + 1, true);
      case 2:
        return add(round(x), v->bound + 1, true);
      case 3:
        return add(trunc(x), v->bound, true);
      case 4:
        return add(sign(x), 1, true);
      case 5:
        return add(is_finite(x), 1, true);
      default:
        return add(is_nan(x), 1, true);
    }
  }

  Tensor condition() {
    const Value* v = find([](const Value& x) { return computes(x) && x.exact; });
    const Value b = partner(*v);
    const Tensor other = b.exact ? b.tensor : scalar(0.25, v->tensor.dtype());
    switch (pick(6)) {
      case 0:
        return v->tensor < other;
      case 1:
        return v->tensor <= other;
      case 2:
        return v->tensor > other;
      case 3:
        return v->tensor >= other;
      case 4:
        return v->tensor == other;
      default:
        return v->tensor != other;
    }
  }

  void choice() {
    const Tensor c = condition();
    if (chance(30))
      return add(chance(50) ? logical_not(c) : logical_or(c, logical_and(c, condition_like(c))), 1, true);
    const Value a = some_float();
    if (!broadcastable(a.tensor.shape(), c.shape())) return add(c, 1, true);
    const Value b = partner(a);
    if (!broadcastable(b.tensor.shape(), c.shape())) return add(c, 1, true);
    add(select(c, a.tensor, b.tensor), std::max(a.bound, b.bound), a.exact && b.exact);
  }

  Tensor condition_like(const Tensor& c) {
    const Value* v = find([&](const Value& x) { return x.tensor.type() == c.type(); });
    return v != nullptr ? v->tensor : c;
  }

  void reduction() {
    const Value* v =
        find([](const Value& x) { return x.tensor.rank() > 0 && x.tensor.dtype() != DType::boolean; });
    if (v == nullptr) return;
    const Value x = *v;
    Axes axes;
    for (std::size_t i = 0; i < x.tensor.rank(); ++i)
      if (chance(50)) axes.push_back(static_cast<std::int64_t>(i));
    const double n = static_cast<double>(count(x.tensor.shape()));
    const std::int64_t axis = static_cast<std::int64_t>(pick(x.tensor.rank()));
    const bool whole = is_integer(x.tensor.dtype());
    switch (pick(5)) {
      case 0:
        return add(sum(x.tensor, axes, chance(50)), x.bound * n, whole);
      case 1:
        return add(amax(x.tensor, axes, chance(50)), x.bound, x.exact);
      case 2:
        return add(amin(x.tensor, axes, chance(50)), x.bound, x.exact);
      case 3:
        return whole ? add(sum(x.tensor, axes), x.bound * n, true)
                     : add(mean(x.tensor, axes, chance(50)), x.bound, false);
      default:
        if (!x.exact) return;
        return add(chance(50) ? argmax(x.tensor, axis) : argmin(x.tensor, axis), n, true);
    }
  }

  /// Convolutions and pooling of [B, C, n], or of more spatial dims.
  void windows() {
    const auto fits = [](const Value& v) {
      const Shape& s = v.tensor.shape();
      return computes(v) && s.rank() >= 2 && s.rank() <= 4 &&
             std::all_of(s.begin() + 1, s.end(), [](const Dim& d) { return d.is_static() && d.factor > 0; });
    };
    const Value* v = find(fits);
    if (v == nullptr) return;
    const double bound = v->bound;
    const bool exact = v->exact;
    const Tensor x = v->tensor.rank() == 2 ? unsqueeze(v->tensor, 1) : v->tensor;
    std::int64_t least = 3, largest = 1;
    for (std::size_t d = 2; d < x.rank(); ++d) {
      least = std::min(least, x.dim(d).factor);
      largest *= least;
    }
    const std::int64_t k = 1 + static_cast<std::int64_t>(pick(static_cast<std::size_t>(least)));
    const std::int64_t stride = 1 + static_cast<std::int64_t>(pick(2)), padding = chance(50) ? k / 2 : 0;
    const double products = bound * 2 * static_cast<double>(x.dim(1).factor * largest);
    switch (pick(5)) {
      case 0:
        return add(convolution(x, kernel(x, 2, x.dim(1).factor, k), {.stride = stride, .padding = padding}),
                   products, false);
      case 1:
        return add(conv_transpose(x, kernel(x, x.dim(1).factor, 2, k), {.stride = stride}), products, false);
      case 2:
        return exact ? add(max_pool(x, {.kernel = k, .stride = stride, .padding = padding}), bound, true)
                     : add(avg_pool(x, {.kernel = k, .stride = stride, .padding = padding}), bound, false);
      case 3:
        return add(
            avg_pool(x, {.kernel = k, .padding = padding, .ceil_mode = true, .count_include_pad = false}),
            bound, false);
      default:
        return add(adaptive_avg_pool(x, 2), bound, false);
    }
  }

  Tensor kernel(const Tensor& x, Dim first, Dim second, std::int64_t size) {
    std::vector<Dim> dims(x.rank(), Dim(size));
    dims[0] = first;
    dims[1] = second;
    add_input(Shape(std::move(dims)), x.dtype());
    return values_.back().tensor;
  }

  void view() {
    const Value v = values_[pick(values_.size())];
    const Tensor& x = v.tensor;
    switch (pick(5)) {
      case 0:
        return add(flatten(x), v.bound, v.exact);
      case 1:
        return add(unsqueeze(x, static_cast<std::int64_t>(pick(x.rank() + 1))), v.bound, v.exact);
      case 2:
        return add(permute(x, shuffled(x.rank())), v.bound, v.exact);
      case 3:
        return stretched(v);
      default:
        return cut(v);
    }
  }

  Axes shuffled(std::size_t rank) {
    Axes order(rank);
    for (std::size_t i = 0; i < rank; ++i) order[i] = static_cast<std::int64_t>(i);
    for (std::size_t i = rank; i > 1; --i) std::swap(order[i - 1], order[pick(i)]);
    return order;
  }

  void stretched(const Value& v) {
    if (v.tensor.rank() > 4) return;
    std::vector<Dim> dims = v.tensor.shape().dims();
    for (Dim& d : dims)
      if (d.is(1)) d = any_dim();
    dims.insert(dims.begin(), any_dim());
    const Shape shape(dims);
    if (small(shape)) add(broadcast_to(v.tensor, shape), v.bound, v.exact);
  }

  void cut(const Value& v) {
    for (std::size_t axis = 0; axis < v.tensor.rank(); ++axis) {
      const Dim& d = v.tensor.dim(axis);
      if (!d.is_static() || d.factor < 2) continue;
      const auto start = static_cast<std::int64_t>(pick(static_cast<std::size_t>(d.factor)));
      return add(slice(v.tensor, static_cast<std::int64_t>(axis), start, d.factor,
                       1 + static_cast<std::int64_t>(pick(2))),
                 v.bound, v.exact);
    }
  }

  void join() {
    const Value v = some_float();
    if (v.tensor.rank() == 0) return;
    Axes low(v.tensor.rank(), 0);
    Axes high = low;
    for (std::size_t axis = 0; axis < v.tensor.rank(); ++axis) {
      if (!v.tensor.dim(axis).is_static()) continue;
      low[axis] = static_cast<std::int64_t>(pick(3));
      high[axis] = static_cast<std::int64_t>(pick(3));
      if (chance(50)) {
        const Value* other = find([&](const Value& x) { return x.tensor.type() == v.tensor.type(); });
        return add(concat({v.tensor, other->tensor}, static_cast<std::int64_t>(axis)),
                   std::max(v.bound, other->bound), v.exact && other->exact);
      }
    }
    add(pad(v.tensor, low, high, chance(50) ? 0 : 0.5), v.bound + 1, v.exact);
  }

  void product() {
    const Value a = some_float();
    if (a.tensor.rank() < 1) return;
    if (chance(15) && attend(a)) return;
    const Dim inner = a.tensor.dim(a.tensor.rank() - 1);
    const Value* b = find([&](const Value& x) {
      if (x.tensor.dtype() != a.tensor.dtype() || x.tensor.rank() != 2) return false;
      if (x.tensor.dim(0) != inner && x.tensor.dim(1) != inner) return false;
      return x.tensor.shape().is_static() || !inner.is_static();
    });
    const double n = static_cast<double>(inner.value(out_.sizes));
    if (b == nullptr) return weighted(a, inner);
    const bool direct = b->tensor.dim(0) == inner;
    add(direct ? matmul(a.tensor, b->tensor) : matmul_transposed(a.tensor, b->tensor), a.bound * b->bound * n,
        false);
  }

  /// Of a matrix, or many, to itself; false when it has no rows or columns, or their number is symbolic.
  bool attend(const Value& a) {
    const std::size_t rank = a.tensor.rank();
    if (rank < 2) return false;
    for (const Dim& d : {a.tensor.dim(rank - 2), a.tensor.dim(rank - 1)})
      if (!d.is_static() || d.is(0)) return false;
    const Tensor q = tanh(a.tensor);
    add(attention(q, sin(q), a.tensor, {.causal = chance(50)}), a.bound, false);
    return true;
  }

  /// A product with a weight of its own.
  void weighted(const Value& a, const Dim& inner) {
    if (!inner.is_static()) return;
    const Dim outer = any_dim();
    add_input(chance(50) ? Shape({inner, outer}) : Shape({outer, inner}), a.tensor.dtype());
    const Tensor w = values_.back().tensor;
    add(w.dim(0) == inner ? matmul(a.tensor, w) : matmul_transposed(a.tensor, w),
        a.bound * 2 * static_cast<double>(inner.factor), false);
  }

  void indexing() {
    const Value* index =
        find([](const Value& v) { return is_integer(v.tensor.dtype()) && v.tensor.dtype() != DType::u8; });
    const Value* table = find([](const Value& v) { return computes(v) && v.tensor.rank() > 0; });
    if (index == nullptr || table == nullptr || table->tensor.rank() + index->tensor.rank() > 6) return;
    if (chance(60)) {
      const std::int64_t row = count(table->tensor.shape()) / table->tensor.dim(0).value(out_.sizes);
      if (row * count(index->tensor.shape()) > kElements) return;
      const Dim rows = table->tensor.dim(0);
      const bool window = rows.is_static() && rows.factor > 1 && index->tensor.dtype() == DType::i64 &&
                          table->tensor.rank() + index->tensor.rank() < 6 && chance(40);
      const Tensor read =
          window ? gather_window(table->tensor, index->tensor, 2) : gather(table->tensor, index->tensor);
      return add(read, table->bound, table->exact);
    }
    if (table->tensor.rank() < index->tensor.rank()) return;
    for (std::size_t i = 0; i < index->tensor.rank(); ++i)
      if (index->tensor.dim(i) != table->tensor.dim(i)) return;
    add(scatter_add(index->tensor, table->tensor, Dim(5)),
        table->bound * static_cast<double>(count(index->tensor.shape())), false);
  }

  void integers() {
    const Value* a =
        find([](const Value& v) { return is_integer(v.tensor.dtype()) && v.tensor.dtype() != DType::u8; });
    if (a == nullptr) return;
    const Value b = partner(*a);
    switch (pick(6)) {
      case 0:
        return add(a->tensor + b.tensor, 0, true);
      case 1:
        return add(a->tensor - b.tensor, 0, true);
      case 2:
        return add(a->tensor * b.tensor, 0, true);
      case 3:
        return add(floor_div(a->tensor, b.tensor), 0, true);
      case 4:
        return add(remainder(a->tensor, b.tensor), 0, true);
      default:
        return add(maximum(a->tensor, neg(b.tensor)), 0, true);
    }
  }

  void convert() {
    const Value v = values_[pick(values_.size())];
    const DType to = any_dtype();
    if (!is_floating(to) && !v.exact) return;
    const bool wide = is_integer(v.tensor.dtype()) && is_floating(to);
    add(cast(v.tensor, to), wide ? 1e6 : v.bound,
        v.exact && !wide && size_of(to) >= size_of(v.tensor.dtype()));
  }

  void source() {
    const Tensor seed = scalar(5, DType::i64);
    const Tensor step = scalar(3, DType::i64);
    const Shape shape = any_shape();
    const auto stream = static_cast<std::int64_t>(values_.size());
    const DType dtype = chance(70) ? DType::f32 : DType::f64;
    switch (pick(6)) {
      case 0:
        return add(random_uniform(shape, seed, step, stream, dtype), 1, true);
      case 1:
        return add(random_normal(shape, seed, step, stream, dtype), 6, false);
      case 2:
        return add(random_bernoulli(shape, 0.3, seed, step, stream), 1, true);
      case 3:
        return add(size(Dim::batch(), dtype) * 0.01, 2, false);
      case 4:
        if (shape.rank() == 0) return;
        return add(random_at(seed, step, iota(shape, 0), stream, 2), 1, true);
      default:
        if (shape.rank() == 0) return;
        return add(iota(shape, static_cast<std::int64_t>(pick(shape.rank())), DType::i64), 300, true);
    }
  }

  /// What passes take away.
  void identity() {
    const Value v = some_float();
    const Tensor& x = v.tensor;
    switch (pick(10)) {
      case 0:
        return add(x * 1.0, v.bound, v.exact);
      case 1:
        return add(x + 0.0, v.bound, false);
      case 2:
        return add(neg(neg(x)), v.bound, v.exact);
      case 3:
        return add(x / 4.0, v.bound, false);
      case 4:
        return add(pow(x, scalar(2, x.dtype())), v.bound * v.bound, false);
      case 5:
        return add(x * -1.0, v.bound, v.exact);
      case 6:
        return add(stop_gradient(x), v.bound, v.exact);
      case 7:
        return add(cast(cast(x, DType::f64), x.dtype()), v.bound, v.exact);
      case 8:
        return add(x * 0.0, v.bound, false);
      default:
        return add(x - neg(x), 2 * v.bound, false);
    }
  }

  void add_outputs() {
    std::vector<Tensor> chosen;
    for (std::size_t i = values_.size(); i-- > 0 && chosen.size() < 4;) chosen.push_back(values_[i].tensor);
    if (options_.gradients) chosen = slopes(chosen);
    for (const Tensor& t : chosen)
      out_.graph.outputs.push_back({"y" + std::to_string(out_.graph.outputs.size()), t});
  }

  std::vector<Tensor> slopes(const std::vector<Tensor>& of) {
    Tensor loss = scalar(0, DType::f64);
    for (const Tensor& t : of)
      if (is_compute_float(t.dtype())) loss = loss + cast(mean(sin(t)), DType::f64);
    std::vector<Tensor> wrt;
    for (const Tensor& t : out_.graph.inputs)
      if (is_floating(t.dtype())) wrt.push_back(t);
    std::vector<Tensor> out = tightloop::gradients(loss, wrt);
    out.push_back(loss);
    return out;
  }

  std::mt19937_64 rng_;
  RandomGraphOptions options_;
  RandomGraph out_;
  std::vector<Value> values_;
};

inline RandomGraph random_graph(std::uint64_t seed, RandomGraphOptions options = {}) {
  return RandomGraphMaker(seed, options).take();
}

/// Where two results differ by more than rounding, in words; "" when nowhere. `precise` is the same result
/// computed in f64: what it differs by from `wanted` tells how much rounding matters there.
inline std::string difference(const Array& got, const Array& wanted, const Array& precise) {
  if (got.dtype() != wanted.dtype() || got.dims() != wanted.dims())
    return got.type_string() + " instead of " + wanted.type_string();
  double scale = 0.02;  // what a sum of values around 1 loses when they cancel
  for (std::int64_t i = 0; i < wanted.count(); ++i)
    if (std::isfinite(wanted.at(i))) scale = std::max(scale, std::abs(wanted.at(i)));
  const double unit =
      wanted.dtype() == DType::f64 && identical(wanted, precise) ? 1e-11 : 2e-5;  // no f32 on the way
  for (std::int64_t i = 0; i < wanted.count(); ++i) {
    const double a = got.at(i);
    const double b = wanted.at(i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    const double rounding = std::abs(precise.at(i) - b);
    if (is_floating(got.dtype()) && std::abs(a - b) <= scale * unit + 20 * rounding) continue;
    if (std::isnan(precise.at(i)) != std::isnan(b) || std::isinf(precise.at(i)) != std::isinf(b)) continue;
    return "element " + std::to_string(i) + ": " + std::to_string(a) + " instead of " + std::to_string(b);
  }
  return "";
}

}  // namespace tightloop::testing
