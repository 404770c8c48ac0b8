// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>

namespace tightloop::ops {
namespace {

Sample sample(std::size_t n, DType dtype, Shape shape, double low, double high) {
  return {.inputs = std::vector<TensorType>(n, {dtype, std::move(shape)}), .low = low, .high = high};
}

}  // namespace

Samples float_samples(std::size_t n, double low, double high) {
  return {sample(n, DType::f32, {257}, low, high), sample(n, DType::f32, {Dim::batch(), 3}, low, high),
          sample(n, DType::f32, {}, low, high), sample(n, DType::f64, {17}, low, high),
          sample(n, DType::f64, {1, 3}, low, high)};
}

Samples integer_samples(std::size_t n, double low, double high) {
  return {sample(n, DType::i32, {17}, low, high), sample(n, DType::i64, {Dim::batch(), 3}, low, high),
          sample(n, DType::u8, {3}, std::fmax(low, 0), high)};
}

Samples number_samples(std::size_t n, double low, double high) {
  Samples all = float_samples(n, low, high);
  for (Sample& s : integer_samples(n, std::floor(low), std::ceil(high))) all.push_back(std::move(s));
  return all;
}

Samples logical_samples(std::size_t n) {
  return {sample(n, DType::boolean, {257}, 0, 1), sample(n, DType::boolean, {Dim::batch(), 3}, 0, 1)};
}

Tensor guard(const Tensor& regular, const Tensor& g, const Tensor& value) {
  const Tensor zero = full(g.shape(), 0, g.dtype());
  return select(logical_or(regular, not_equal(g, zero)), value, zero);
}

}  // namespace tightloop::ops
