// SPDX-License-Identifier: Apache-2.0
#pragma once
// What op files share: type rules, and walking over strided elements.
#include <tightloop/base/array.h>
#include <tightloop/ir/op.h>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::ops {

using ir::EvalArgs;
using ir::InferArgs;
using ir::Ints;
using ir::Sample;
using ir::Scalar;
using ir::ScalarBuilder;
using Samples = std::vector<Sample>;
using Tensors = std::vector<Tensor>;
using Scalars = std::span<const Scalar>;

/// Input `i` of a node, as VJP rules need it.
inline const Tensor& in(const Tensor& y, std::size_t i = 0) { return y.node().inputs[i]; }

/// Throws Error "op: rule; got f32[2], i64[3]".
[[noreturn]] void refuse(const InferArgs& a, std::string_view rule);
inline void expect(const InferArgs& a, bool condition, std::string_view rule) {
  if (!condition) refuse(a, rule);
}

/// Equal types, f32 or f64; gives that type.
TensorType same_float(const InferArgs& a);
/// Equal types, f32, f64, i32, i64 or u8; gives that type.
TensorType same_number(const InferArgs& a);
/// Equal types, any but bf16 and f16; gives bool.
TensorType comparison(const InferArgs& a);
/// bool inputs of equal shape; gives bool.
TensorType logical(const InferArgs& a);
/// A floating input; gives bool.
TensorType float_test(const InferArgs& a);

/// The smallest and largest value of i32, i64, u8 or bool.
std::pair<std::int64_t, std::int64_t> integer_range(DType dtype);
/// A number attribute, which an integer node may hold as an integer.
double number(const ir::Attrs& attrs, std::string_view name);

inline void copy_element(Array& out, std::int64_t to, const Array& from, std::int64_t i) {
  if (is_floating(from.dtype()))
    out.set(to, from.at(i));
  else
    out.set_int(to, from.int_at(i));
}

/// Calls visit(i, other) for the elements of `dims` in row-major order: i counts them, other =
/// offset + Σ coordinate·stride.
template <class Visit>
void walk(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& strides,
          std::int64_t offset, Visit visit) {
  const std::int64_t count = product(dims);
  std::vector<std::int64_t> at(dims.size(), 0);
  std::int64_t other = offset;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(i, other);
    for (std::size_t d = dims.size(); d-- > 0;) {
      other += strides[d];
      if (++at[d] < dims[d]) break;
      other -= strides[d] * dims[d];
      at[d] = 0;
    }
  }
}

}  // namespace tightloop::ops
