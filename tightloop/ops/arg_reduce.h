// SPDX-License-Identifier: Apache-2.0
#pragma once
// What argmax and argmin share.
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {

inline TensorType arg_type(const InferArgs& a) {
  const TensorType& x = a.inputs[0].type();
  const auto axis = a.attrs.at<std::int64_t>("axis");
  expect(a, is_compute_float(x.dtype) || !is_floating(x.dtype),
         "bf16 and f16 are storage types (cast first)");
  expect(a, axis >= 0 && axis < static_cast<std::int64_t>(x.shape.rank()), "axis is outside the shape");
  auto dims = x.shape.dims();
  expect(a, !dims[static_cast<std::size_t>(axis)].is(0), "nothing to choose from along an empty axis");
  dims.erase(dims.begin() + axis);
  return {DType::i64, Shape(std::move(dims))};
}

inline Samples arg_samples() {
  Samples all;
  for (const DType d : {DType::f32, DType::f64, DType::i32, DType::i64}) {
    all.push_back({.inputs = {{d, {Dim::batch(), 17}}}, .attrs = {{"axis", std::int64_t{1}}}});
    all.push_back({.inputs = {{d, {3, 5, 2}}}, .attrs = {{"axis", std::int64_t{1}}}});
    all.push_back({.inputs = {{d, {257}}}, .attrs = {{"axis", std::int64_t{0}}}});
  }
  return all;
}

/// out = the position along `axis` of the element that no other is better than.
template <class Real, class Whole>
void find_along(const EvalArgs& a, Real better, Whole better_whole) {
  const Array& x = *a.inputs[0];
  const auto axis = static_cast<std::size_t>(a.node.attrs.at<std::int64_t>("axis"));
  auto strides = row_major_strides(x.dims());
  const std::int64_t step = strides[axis];
  strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(axis));
  walk(a.out.dims(), strides, 0, [&](std::int64_t i, std::int64_t first) {
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < x.dims()[axis]; ++k) {
      const std::int64_t at = first + k * step;
      const std::int64_t to = first + best * step;
      if (is_floating(x.dtype()) ? better(x.at(at), x.at(to)) : better_whole(x.int_at(at), x.int_at(to)))
        best = k;
    }
    a.out.set_int(i, best);
  });
}

}  // namespace tightloop::ops
