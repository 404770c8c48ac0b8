// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the reductions share.
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

#include <initializer_list>
#include <type_traits>

namespace tightloop::ops {

/// Checks `axes` (sorted, inside the shape) and gives x's type without these dims.
TensorType reduced(const InferArgs& a);
/// The dims that a reduction keeps, as broadcast() wants them back.
Ints kept_dims(const Tensor& y);
/// A reduction's result (or its gradient) repeated to the shape of the reduction's input.
Tensor spread_back(const Tensor& y, const Tensor& g);
/// Equal extremes share the gradient evenly.
Tensors extreme_vjp(const Tensor& y, const Tensor& g);
/// What the extreme of no integer or bool is.
std::int64_t max_start(DType dtype);
std::int64_t min_start(DType dtype);
/// Reductions over one dim, several, and all.
Samples reduction_samples(std::initializer_list<DType> dtypes);

/// out = fold of the elements, f(so far, element), beginning with `first`.
template <class T, class F>
void fold(const EvalArgs& a, T first, F f) {
  const auto& dims = a.inputs[0]->dims();
  const auto kept = row_major_strides(a.out.dims());
  std::vector<std::int64_t> strides(dims.size(), 0);
  const auto& axes = a.node.attrs.at<Ints>("axes");
  for (std::size_t d = 0, k = 0, r = 0; d < dims.size(); ++d) {
    if (r < axes.size() && axes[r] == static_cast<std::int64_t>(d))
      ++r;
    else
      strides[d] = kept[k++];
  }
  std::vector<T> totals(static_cast<std::size_t>(a.out.count()), first);
  walk(dims, strides, 0, [&](std::int64_t i, std::int64_t to) {
    T& total = totals[static_cast<std::size_t>(to)];
    if constexpr (std::is_floating_point_v<T>)
      total = f(total, a.inputs[0]->at(i));
    else
      total = f(total, a.inputs[0]->int_at(i));
  });
  for (std::size_t i = 0; i < totals.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>)
      a.out.set(static_cast<std::int64_t>(i), totals[i]);
    else
      a.out.set_int(static_cast<std::int64_t>(i), totals[i]);
  }
}

}  // namespace tightloop::ops
