// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/index.h>

#include <algorithm>

namespace tightloop {
namespace {

using namespace ops;

Tensor keep(Tensor reduced, const Shape& from, const Axes& axes, bool keepdim) {
  if (!keepdim) return reduced;
  auto dims = from.dims();
  for (const auto axis : axes) dims[static_cast<std::size_t>(axis)] = 1;
  return reshape(std::move(reduced), Shape(std::move(dims)));
}

Tensor reduce(const ir::OpDef& op, std::string_view function, Tensor x, const Axes& axes, bool keepdim) {
  const Axes front = front_axes(function, axes, x.rank());
  const Shape from = x.shape();
  return keep(ir::make_node(op, {std::move(x)}, {{"axes", front}}), from, front, keepdim);
}

Tensor arg_reduce(const ir::OpDef& op, Tensor x, std::int64_t axis, bool keepdim) {
  const std::int64_t front = front_axis(op.name, axis, x.rank());
  const Shape from = x.shape();
  return keep(ir::make_node(op, {computable(std::move(x))}, {{"axis", front}}), from, {front}, keepdim);
}

/// The number of elements that go into one of the result, as a scalar.
Tensor group_size(const Tensor& x, const Axes& front) {
  std::vector<Dim> dims;
  for (const auto axis : front) dims.push_back(x.dim(static_cast<std::size_t>(axis)));
  return size(Shape(std::move(dims)).count(), x.dtype());
}

}  // namespace

Tensor sum(Tensor x, Axes axes, bool keepdim) {
  x = is_floating(x.dtype()) ? computable(std::move(x)) : cast(std::move(x), DType::i64);
  return reduce(reduce_sum_op(), "sum", std::move(x), axes, keepdim);
}

Tensor mean(Tensor x, Axes axes, bool keepdim) {
  x = floating(std::move(x));
  const Tensor count = group_size(x, front_axes("mean", axes, x.rank()));
  return sum(std::move(x), std::move(axes), keepdim) / count;
}

Tensor variance(Tensor x, Axes axes, double correction, bool keepdim) {
  x = floating(std::move(x));
  const Tensor count = group_size(x, front_axes("variance", axes, x.rank()));
  const Tensor freedom = correction == 0 ? count : maximum(count - correction, zeros({}, x.dtype()));
  const Tensor apart = x - mean(x, axes, true);
  return sum(apart * apart, std::move(axes), keepdim) / freedom;
}

Tensor amax(Tensor x, Axes axes, bool keepdim) {
  return reduce(reduce_max_op(), "amax", computable(std::move(x)), axes, keepdim);
}

Tensor amin(Tensor x, Axes axes, bool keepdim) {
  return reduce(reduce_min_op(), "amin", computable(std::move(x)), axes, keepdim);
}

Tensor argmax(Tensor x, std::int64_t axis, bool keepdim) {
  return arg_reduce(argmax_op(), std::move(x), axis, keepdim);
}
Tensor argmin(Tensor x, std::int64_t axis, bool keepdim) {
  return arg_reduce(argmin_op(), std::move(x), axis, keepdim);
}

Tensor any(Tensor x, Axes axes, bool keepdim) {
  return reduce(reduce_max_op(), "any", cast(std::move(x), DType::boolean), axes, keepdim);
}

Tensor all(Tensor x, Axes axes, bool keepdim) {
  return reduce(reduce_min_op(), "all", cast(std::move(x), DType::boolean), axes, keepdim);
}

Tensor logsumexp(Tensor x, Axes axes, bool keepdim) {
  x = floating(std::move(x));
  const Tensor largest = stop_gradient(amax(x, axes, true));
  const Tensor shift = select(is_finite(largest), largest, zeros(largest.shape(), x.dtype()));
  const Tensor result = log(sum(exp(x - shift), axes, true)) + shift;
  if (keepdim) return result;
  const Axes front = front_axes("logsumexp", axes, x.rank());
  std::vector<Dim> dims;
  for (std::size_t d = 0; d < x.rank(); ++d)
    if (!std::binary_search(front.begin(), front.end(), static_cast<std::int64_t>(d)))
      dims.push_back(x.dim(d));
  return reshape(result, Shape(std::move(dims)));
}

Tensor softmax(Tensor x, std::int64_t axis) {
  x = floating(std::move(x));
  const Tensor e = exp(x - stop_gradient(amax(x, {axis}, true)));
  return e / sum(e, {axis}, true);
}

Tensor log_softmax(Tensor x, std::int64_t axis) {
  x = floating(std::move(x));
  const Tensor shifted = x - stop_gradient(amax(x, {axis}, true));
  return shifted - log(sum(exp(shifted), {axis}, true));
}

}  // namespace tightloop
