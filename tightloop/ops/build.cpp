// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tightloop::ops {
namespace {

int rank_of(DType d) {
  switch (d) {
    case DType::boolean:
      return 0;
    case DType::u8:
      return 1;
    case DType::i32:
      return 2;
    case DType::i64:
      return 3;
    case DType::f16:
      return 4;
    case DType::bf16:
      return 5;
    case DType::f32:
      return 6;
    case DType::f64:
      return 7;
  }
  return 7;
}

bool is_storage(DType d) { return d == DType::bf16 || d == DType::f16; }

}  // namespace

DType promote(DType a, DType b) {
  if (a != b && is_storage(a) && is_storage(b)) return DType::f32;
  return rank_of(a) < rank_of(b) ? b : a;
}

Tensor computable(Tensor x) { return is_storage(x.dtype()) ? cast(std::move(x), DType::f32) : x; }

Tensor floating(Tensor x) { return is_compute_float(x.dtype()) ? x : cast(std::move(x), DType::f32); }

Tensor number_like(const Tensor& like, double value) {
  const bool whole = std::trunc(value) == value;
  const DType d = like.dtype();
  if (is_storage(d)) return full(like.shape(), value, DType::f32);
  if (is_floating(d)) return full(like.shape(), value, d);
  if (!whole) return full(like.shape(), value, DType::f32);
  return full(like.shape(), value, d == DType::boolean ? DType::i64 : d);
}

Shape broadcast_shape(std::string_view function, const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  std::vector<Dim> dims(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim x = i < a.rank() ? a[a.rank() - 1 - i] : Dim(1);
    const Dim y = i < b.rank() ? b[b.rank() - 1 - i] : Dim(1);
    if (x != y && !x.is(1) && !y.is(1))
      throw Error(std::string(function) + ": shapes " + to_string(a) + " and " + to_string(b) +
                  " do not broadcast: " + to_string(x) + " against " + to_string(y) +
                  " (dims must be equal or 1, counted from the last)");
    dims[rank - 1 - i] = x.is(1) ? y : x;
  }
  return Shape(std::move(dims));
}

Tensor broadcast_dims(Tensor x, const Shape& shape, ir::Ints dims) {
  const TensorType type{x.dtype(), shape};
  if (x.shape() == shape) return x;
  if (x.node().op == &constant_op()) return ir::make_node(constant_op(), {}, x.node().attrs, &type);
  return ir::make_node(broadcast_op(), {std::move(x)}, {{"dims", std::move(dims)}}, &type);
}

Tensor matmul_node(Tensor a, Tensor b, bool transpose_a, bool transpose_b) {
  return ir::make_node(matmul_op(), {std::move(a), std::move(b)},
                       {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

std::optional<double> constant_value(const Tensor& x) {
  if (x.node().op != &constant_op()) return std::nullopt;
  const ir::AttrValue& value = *x.node().attrs.find("value");
  if (std::holds_alternative<double>(value)) return std::get<double>(value);
  return static_cast<double>(std::get<std::int64_t>(value));
}

std::int64_t front_axis(std::string_view function, std::int64_t axis, std::size_t rank) {
  const auto n = static_cast<std::int64_t>(rank);
  if (axis < -n || axis >= n)
    throw Error(std::string(function) + ": axis " + std::to_string(axis) + " is outside a tensor of rank " +
                std::to_string(rank));
  return axis < 0 ? axis + n : axis;
}

Axes front_axes(std::string_view function, const Axes& axes, std::size_t rank) {
  Axes out(axes.size());
  std::transform(axes.begin(), axes.end(), out.begin(),
                 [&](auto a) { return front_axis(function, a, rank); });
  if (axes.empty()) {
    out.resize(rank);
    std::iota(out.begin(), out.end(), 0);
  }
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end())
    throw Error(std::string(function) + ": an axis is named twice");
  return out;
}

}  // namespace tightloop::ops
