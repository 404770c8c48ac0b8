// SPDX-License-Identifier: Apache-2.0
#pragma once
// What plane_gather and plane_scatter share: a plane is what stands at one batch row and channel.
#include <tightloop/ops/rules.h>

namespace tightloop::ops {

inline void expect_planes(const InferArgs& a, const TensorType& x, const TensorType& index) {
  expect(a, is_compute_float(x.dtype), "needs f32 or f64 (cast first)");
  expect(a, index.dtype == DType::i32, "the index must be i32");
  expect(a,
         x.shape.rank() >= 3 && index.shape.rank() >= 3 && x.shape[0] == index.shape[0] &&
             x.shape[1] == index.shape[1],
         "needs [B, C, ...] with equal B and C");
  for (const Shape* shape : {&x.shape, &index.shape})
    for (std::size_t d = 1; d < shape->rank(); ++d)
      expect(a, (*shape)[d].is_static(), "only the first dim may be symbolic");
}

/// Elements of one plane.
inline std::int64_t plane_size(const std::vector<std::int64_t>& dims) {
  std::int64_t n = 1;
  for (std::size_t d = 2; d < dims.size(); ++d) n *= dims[d];
  return n;
}

/// Calls visit(i, at) for the elements i of `index` and the element of `planes` that each names.
template <class Visit>
void each_in_plane(const Array& index, const Array& planes, Visit visit) {
  const std::int64_t many = plane_size(index.dims()), size = plane_size(planes.dims());
  for (std::int64_t i = 0; i < index.count(); ++i) {
    const std::int64_t at = index.int_at(i);
    if (at >= 0 && at < size) visit(i, i / many * size + at);
  }
}

}  // namespace tightloop::ops
