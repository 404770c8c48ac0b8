// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the functions*.cpp files share: promotion, broadcasting, and nodes that functions.h does not name.
#include <tightloop/ops/functions.h>

#include <optional>
#include <string_view>

namespace tightloop::ops {

/// bool < u8 < i32 < i64 < f16 < bf16 < f32 < f64; f16 with bf16 gives f32.
DType promote(DType a, DType b);
/// bf16 and f16 as f32, the rest as it is.
Tensor computable(Tensor x);
/// Integers and bool as f32 too.
Tensor floating(Tensor x);
/// A C++ number as a tensor shaped as `like`: of its dtype, or f32 when that is integer and the number
/// is not whole (i64 for a whole number beside bool).
Tensor number_like(const Tensor& like, double value);

/// NumPy's rule; throws Error naming `function`.
Shape broadcast_shape(std::string_view function, const Shape& a, const Shape& b);
/// x with its dim i as dim dims[i] of `shape`.
Tensor broadcast_dims(Tensor x, const Shape& shape, ir::Ints dims);
Tensor matmul_node(Tensor a, Tensor b, bool transpose_a, bool transpose_b);

/// The value of a `constant` node.
std::optional<double> constant_value(const Tensor& x);

/// `axis` counted from the front; throws Error naming `function` when it is outside a rank.
std::int64_t front_axis(std::string_view function, std::int64_t axis, std::size_t rank);
/// Sorted, from the front, all when empty; throws Error when one is outside or twice.
Axes front_axes(std::string_view function, const Axes& axes, std::size_t rank);

}  // namespace tightloop::ops
