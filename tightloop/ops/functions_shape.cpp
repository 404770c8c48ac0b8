// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tightloop {
namespace {

using namespace ops;

std::string text(const Axes& axes) {
  std::string out = "[";
  for (std::size_t i = 0; i < axes.size(); ++i) out += (i ? ", " : "") + std::to_string(axes[i]);
  return out + "]";
}

/// A constant converted here, when both types can say it exactly as Array::cast would.
std::optional<Tensor> cast_constant(const Tensor& x, DType dtype) {
  const auto value = constant_value(x);
  if (!value || std::fabs(*value) > 0x1p23) return std::nullopt;
  if (dtype == DType::boolean) return full(x.shape(), *value != 0, dtype);
  if (is_floating(dtype) && (!is_floating(x.dtype()) || size_of(dtype) >= size_of(x.dtype())) &&
      is_compute_float(dtype))
    return full(x.shape(), x.dtype() == DType::f32 ? static_cast<float>(*value) : *value, dtype);
  return std::nullopt;
}

}  // namespace

Tensor cast(Tensor x, DType dtype) {
  if (x.dtype() == dtype) return x;
  if (const auto folded = cast_constant(x, dtype)) return *folded;
  const TensorType type{dtype, x.shape()};
  return ir::make_node(cast_op(), {std::move(x)}, {}, &type);
}

Tensor stop_gradient(Tensor x) { return ir::make_node(stop_gradient_op(), {std::move(x)}); }

Tensor broadcast_to(Tensor x, Shape shape) {
  if (x.shape() == shape) return x;
  if (x.rank() > shape.rank() || broadcast_shape("broadcast_to", x.shape(), shape) != shape)
    throw Error("broadcast_to: " + to_string(x.shape()) + " does not stretch to " + to_string(shape));
  ir::Ints dims(x.rank());
  std::iota(dims.begin(), dims.end(), static_cast<std::int64_t>(shape.rank() - x.rank()));
  return broadcast_dims(std::move(x), shape, std::move(dims));
}

Tensor reshape(Tensor x, Shape shape) {
  if (x.shape() == shape) return x;
  if (x.shape().count() != shape.count())
    throw Error("reshape: " + to_string(x.type()) + " does not have the " + to_string(shape.count()) +
                " elements of " + to_string(shape));
  const TensorType type{x.dtype(), std::move(shape)};
  if (x.node().op == &constant_op()) return ir::make_node(constant_op(), {}, x.node().attrs, &type);
  return ir::make_node(reshape_op(), {std::move(x)}, {}, &type);
}

Tensor flatten(Tensor x, std::int64_t start, std::int64_t end) {
  if (x.rank() == 0) return reshape(std::move(x), {1});
  const auto first = static_cast<std::size_t>(front_axis("flatten", start, x.rank()));
  const auto last = static_cast<std::size_t>(front_axis("flatten", end, x.rank()));
  if (first > last)
    throw Error("flatten: axis " + std::to_string(start) + " comes after axis " + std::to_string(end));
  auto dims = x.shape().dims();
  const auto from = dims.begin() + static_cast<std::ptrdiff_t>(first);
  const auto to = dims.begin() + static_cast<std::ptrdiff_t>(last) + 1;
  *from = Shape(std::vector<Dim>(from, to)).count();
  dims.erase(from + 1, to);
  return reshape(std::move(x), Shape(std::move(dims)));
}

Tensor unsqueeze(Tensor x, std::int64_t axis) {
  auto dims = x.shape().dims();
  dims.insert(dims.begin() + front_axis("unsqueeze", axis, x.rank() + 1), Dim(1));
  return reshape(std::move(x), Shape(std::move(dims)));
}

Tensor squeeze(Tensor x, std::int64_t axis) {
  auto dims = x.shape().dims();
  const std::int64_t front = front_axis("squeeze", axis, x.rank());
  const Dim dim = x.dim(static_cast<std::size_t>(front));
  if (!dim.is(1))
    throw Error("squeeze: dim " + std::to_string(axis) + " of " + to_string(x.shape()) + " is " +
                to_string(dim) + ", not 1");
  dims.erase(dims.begin() + front);
  return reshape(std::move(x), Shape(std::move(dims)));
}

Tensor permute(Tensor x, Axes order) {
  if (order.size() != x.rank())
    throw Error("permute: order " + text(order) + " must name each dim of " + to_string(x.shape()));
  for (auto& axis : order) axis = front_axis("permute", axis, x.rank());
  if (std::is_sorted(order.begin(), order.end()) &&
      std::adjacent_find(order.begin(), order.end()) == order.end())
    return x;
  return ir::make_node(transpose_op(), {std::move(x)}, {{"perm", std::move(order)}});
}

Tensor transpose(Tensor x, std::int64_t a, std::int64_t b) {
  Axes order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<std::size_t>(front_axis("transpose", a, x.rank()))],
            order[static_cast<std::size_t>(front_axis("transpose", b, x.rank()))]);
  return permute(std::move(x), std::move(order));
}

Tensor slice(Tensor x, std::int64_t axis, std::int64_t start, std::int64_t stop, std::int64_t step) {
  const std::int64_t front = front_axis("slice", axis, x.rank());
  const Dim dim = x.dim(static_cast<std::size_t>(front));
  if (!dim.is_static())
    throw Error("slice: axis " + std::to_string(axis) + " of " + to_string(x.shape()) + " is symbolic");
  if (step < 1) throw Error("slice: step " + std::to_string(step) + " must be positive");
  const auto place = [&](std::int64_t i) {
    return std::clamp<std::int64_t>(i < 0 ? i + dim.factor : i, 0, dim.factor);
  };
  const std::int64_t first = place(start);
  const std::int64_t last = std::max(place(stop), first);
  if (first == 0 && last == dim.factor && step == 1) return x;
  ir::Ints starts(x.rank(), 0), stops(x.rank(), -1), steps(x.rank(), 1);
  const auto at = static_cast<std::size_t>(front);
  starts[at] = first;
  stops[at] = last;
  steps[at] = step;
  return ir::make_node(
      slice_op(), {std::move(x)},
      {{"start", std::move(starts)}, {"stop", std::move(stops)}, {"step", std::move(steps)}});
}

Tensor concat(std::vector<Tensor> parts, std::int64_t axis) {
  if (parts.empty()) throw Error("concat: needs at least one tensor");
  const std::int64_t front = front_axis("concat", axis, parts[0].rank());
  DType dtype = parts[0].dtype();
  for (const Tensor& t : parts) dtype = promote(dtype, t.dtype());
  for (Tensor& t : parts) t = cast(std::move(t), dtype);
  if (parts.size() == 1) return parts[0];
  return ir::make_node(concat_op(), std::move(parts), {{"axis", front}});
}

Tensor stack(std::vector<Tensor> parts, std::int64_t axis) {
  if (parts.empty()) throw Error("stack: needs at least one tensor");
  const std::int64_t front = front_axis("stack", axis, parts[0].rank() + 1);
  for (Tensor& t : parts) {
    if (t.shape() != parts[0].shape() && t.rank() != parts[0].rank() + 1)
      throw Error("stack: shapes differ: " + to_string(parts[0].shape()) + " and " + to_string(t.shape()));
  }
  for (Tensor& t : parts) t = unsqueeze(std::move(t), front);
  return concat(std::move(parts), front);
}

Tensor pad(Tensor x, Axes low, Axes high, double value) {
  const auto none = [](const Axes& a) {
    return std::all_of(a.begin(), a.end(), [](auto n) { return n == 0; });
  };
  if (low.size() == x.rank() && high.size() == x.rank() && none(low) && none(high)) return x;
  return ir::make_node(pad_op(), {std::move(x)},
                       {{"low", std::move(low)}, {"high", std::move(high)}, {"value", value}});
}

}  // namespace tightloop
