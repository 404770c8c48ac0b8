// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/reduce.h>

namespace tightloop::ops {
TensorType reduced(const InferArgs& a) {
  const TensorType& x = a.inputs[0].type();
  expect(a, is_compute_float(x.dtype) || !is_floating(x.dtype),
         "bf16 and f16 are storage types (cast first)");
  std::vector<Dim> dims;
  std::int64_t last = -1;
  const auto& axes = a.attrs.at<Ints>("axes");
  for (const auto axis : axes) {
    expect(a, axis > last && axis < static_cast<std::int64_t>(x.shape.rank()),
           "axes must increase inside the shape");
    for (auto d = last + 1; d < axis; ++d) dims.push_back(x.shape[static_cast<std::size_t>(d)]);
    last = axis;
  }
  for (auto d = static_cast<std::size_t>(last + 1); d < x.shape.rank(); ++d) dims.push_back(x.shape[d]);
  return {x.dtype, Shape(std::move(dims))};
}

Ints kept_dims(const Tensor& y) {
  const auto& axes = y.node().attrs.at<Ints>("axes");
  Ints kept;
  for (std::size_t d = 0, r = 0; d < in(y).rank(); ++d) {
    if (r < axes.size() && axes[r] == static_cast<std::int64_t>(d))
      ++r;
    else
      kept.push_back(static_cast<std::int64_t>(d));
  }
  return kept;
}

Tensor spread_back(const Tensor& y, const Tensor& g) {
  return broadcast_dims(g, in(y).shape(), kept_dims(y));
}

Tensors extreme_vjp(const Tensor& y, const Tensor& g) {
  const auto& axes = y.node().attrs.at<Ints>("axes");
  const Tensor extreme = equal(in(y), spread_back(y, y));
  const Tensor share = g / sum(cast(extreme, g.dtype()), axes);
  return {select(extreme, spread_back(y, share), full(in(y).shape(), 0, g.dtype()))};
}

std::int64_t max_start(DType dtype) { return integer_range(dtype).first; }
std::int64_t min_start(DType dtype) { return integer_range(dtype).second; }

Samples reduction_samples(std::initializer_list<DType> dtypes) {
  Samples all;
  for (const DType d : dtypes) {
    all.push_back({.inputs = {{d, {17, 3}}}, .attrs = {{"axes", Ints{0}}}});
    all.push_back({.inputs = {{d, {Dim::batch(), 3}}}, .attrs = {{"axes", Ints{0, 1}}}});
    all.push_back({.inputs = {{d, {3, 2, 5}}}, .attrs = {{"axes", Ints{0, 2}}}});
    all.push_back({.inputs = {{d, {2, 257}}}, .attrs = {{"axes", Ints{1}}}});
    all.push_back({.inputs = {{d, {1}}}, .attrs = {{"axes", Ints{0}}}});
  }
  return all;
}

}  // namespace tightloop::ops
