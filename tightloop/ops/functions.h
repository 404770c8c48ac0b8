// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions that users, layers, gradients and optimizers write. Elementwise functions broadcast as
// NumPy does (a symbolic dim only against itself or 1) and promote dtypes as PyTorch does: bool < u8 < i32 <
// i64 < f16 < bf16 < f32 < f64; a C++ number takes the tensor's dtype (f32 when the tensor is
// integer and the number is not whole). Floating functions of integers compute in f32. bf16 and f16 compute
// in f32. All throw Error naming the function, the rule and what came.
#include <tightloop/ir/tensor.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

namespace tightloop {

using Axes = std::vector<std::int64_t>;  ///< negative counts from the end; empty means all where it says so

// --- making tensors
Tensor full(Shape shape, double value, DType dtype = DType::f32);
Tensor zeros(Shape shape, DType dtype = DType::f32);
Tensor ones(Shape shape, DType dtype = DType::f32);
Tensor scalar(double value, DType dtype = DType::f32);
/// 0, 1, 2, … along `axis` of `shape`, constant along the others.
Tensor iota(Shape shape, std::int64_t axis, DType dtype = DType::i64);
/// The run-time value of `dim` as a scalar.
Tensor size(Dim dim, DType dtype = DType::f32);
/// A graph input; `role` as listed in ir/graph.h.
Tensor input(const std::string& name, const std::string& role, TensorType type);

/// Random values: a function of (seed, step, stream, element) alone; `seed` and `step` are i64 scalars.
/// Two draws in one graph must differ in `stream`.
Tensor random_uniform(Shape shape, Tensor seed, Tensor step, std::int64_t stream,
                      DType dtype = DType::f32);  ///< [0, 1)
Tensor random_normal(Shape shape, Tensor seed, Tensor step, std::int64_t stream, DType dtype = DType::f32);
Tensor random_bernoulli(Shape shape, double p, Tensor seed, Tensor step,
                        std::int64_t stream);  ///< bool, true with probability p

// --- arithmetic
Tensor add(Tensor a, Tensor b);
Tensor sub(Tensor a, Tensor b);
Tensor mul(Tensor a, Tensor b);
Tensor div(Tensor a, Tensor b);  ///< true division: integers give f32
Tensor floor_div(Tensor a, Tensor b);
Tensor remainder(Tensor a, Tensor b);  ///< sign of the divisor, as PyTorch and Python
Tensor pow(Tensor a, Tensor b);
Tensor minimum(Tensor a, Tensor b);  ///< NaN if either is; equal operands share the gradient
Tensor maximum(Tensor a, Tensor b);
Tensor atan2(Tensor y, Tensor x);
Tensor neg(Tensor x);
Tensor abs(Tensor x);  ///< gradient 0 at 0
Tensor sign(Tensor x);
Tensor floor(Tensor x);
Tensor ceil(Tensor x);
Tensor round(Tensor x);  ///< ties to even
Tensor trunc(Tensor x);
Tensor square(Tensor x);
Tensor reciprocal(Tensor x);
Tensor sqrt(Tensor x);
Tensor rsqrt(Tensor x);
/// a / (sqrt(v) + e), faster than its parts; v not negative.
Tensor div_root(Tensor a, Tensor v, Tensor e);
Tensor exp(Tensor x);
Tensor expm1(Tensor x);
Tensor log(Tensor x);
Tensor log1p(Tensor x);
Tensor sin(Tensor x);
Tensor cos(Tensor x);
Tensor tan(Tensor x);
Tensor atan(Tensor x);
Tensor sinh(Tensor x);
Tensor cosh(Tensor x);
Tensor tanh(Tensor x);
Tensor erf(Tensor x);
Tensor clamp(Tensor x, std::optional<double> low, std::optional<double> high);

inline Tensor operator+(Tensor a, Tensor b) { return add(std::move(a), std::move(b)); }
inline Tensor operator-(Tensor a, Tensor b) { return sub(std::move(a), std::move(b)); }
inline Tensor operator*(Tensor a, Tensor b) { return mul(std::move(a), std::move(b)); }
inline Tensor operator/(Tensor a, Tensor b) { return div(std::move(a), std::move(b)); }
inline Tensor operator-(Tensor a) { return neg(std::move(a)); }
Tensor operator+(Tensor a, double b);
Tensor operator-(Tensor a, double b);
Tensor operator*(Tensor a, double b);
Tensor operator/(Tensor a, double b);
Tensor operator+(double a, Tensor b);
Tensor operator-(double a, Tensor b);
Tensor operator*(double a, Tensor b);
Tensor operator/(double a, Tensor b);

// --- comparison and logic (bool results)
Tensor equal(Tensor a, Tensor b);
Tensor not_equal(Tensor a, Tensor b);
Tensor less(Tensor a, Tensor b);
Tensor less_equal(Tensor a, Tensor b);
Tensor greater(Tensor a, Tensor b);
Tensor greater_equal(Tensor a, Tensor b);
Tensor logical_and(Tensor a, Tensor b);
Tensor logical_or(Tensor a, Tensor b);
Tensor logical_not(Tensor x);
Tensor is_finite(Tensor x);
Tensor is_nan(Tensor x);
inline Tensor operator==(Tensor a, Tensor b) { return equal(std::move(a), std::move(b)); }
inline Tensor operator!=(Tensor a, Tensor b) { return not_equal(std::move(a), std::move(b)); }
inline Tensor operator<(Tensor a, Tensor b) { return less(std::move(a), std::move(b)); }
inline Tensor operator<=(Tensor a, Tensor b) { return less_equal(std::move(a), std::move(b)); }
inline Tensor operator>(Tensor a, Tensor b) { return greater(std::move(a), std::move(b)); }
inline Tensor operator>=(Tensor a, Tensor b) { return greater_equal(std::move(a), std::move(b)); }
Tensor operator==(Tensor a, double b);
Tensor operator<(Tensor a, double b);
Tensor operator<=(Tensor a, double b);
Tensor operator>(Tensor a, double b);
Tensor operator>=(Tensor a, double b);
/// a where condition, else b. The gradient of the branch not taken is 0 (never NaN).
Tensor select(Tensor condition, Tensor a, Tensor b);

// --- types and shapes
Tensor cast(Tensor x, DType dtype);
/// Same value, no gradient.
Tensor stop_gradient(Tensor x);
Tensor broadcast_to(Tensor x, Shape shape);
Tensor reshape(Tensor x, Shape shape);
Tensor flatten(Tensor x, std::int64_t start = 0, std::int64_t end = -1);
Tensor unsqueeze(Tensor x, std::int64_t axis);
Tensor squeeze(Tensor x, std::int64_t axis);
Tensor permute(Tensor x, Axes order);
Tensor transpose(Tensor x, std::int64_t a, std::int64_t b);
/// Elements start, start+step, … below stop, along a static axis. Negative start/stop count from the end.
Tensor slice(Tensor x, std::int64_t axis, std::int64_t start, std::int64_t stop, std::int64_t step = 1);
Tensor concat(std::vector<Tensor> parts, std::int64_t axis);
Tensor stack(std::vector<Tensor> parts, std::int64_t axis);
/// `low` and `high` elements of `value` before and after each axis.
Tensor pad(Tensor x, Axes low, Axes high, double value = 0);

// --- reductions (axes empty: all; keepdim keeps them as 1)
Tensor sum(Tensor x, Axes axes = {}, bool keepdim = false);
Tensor mean(Tensor x, Axes axes = {}, bool keepdim = false);
Tensor variance(Tensor x, Axes axes = {}, double correction = 1, bool keepdim = false);
Tensor amax(Tensor x, Axes axes = {},
            bool keepdim = false);  ///< equal maxima share the gradient, as torch.amax
Tensor amin(Tensor x, Axes axes = {}, bool keepdim = false);
Tensor argmax(Tensor x, std::int64_t axis, bool keepdim = false);  ///< i64, the first maximum; NaN wins
Tensor argmin(Tensor x, std::int64_t axis, bool keepdim = false);
Tensor any(Tensor x, Axes axes = {}, bool keepdim = false);
Tensor all(Tensor x, Axes axes = {}, bool keepdim = false);
Tensor logsumexp(Tensor x, Axes axes, bool keepdim = false);
Tensor softmax(Tensor x, std::int64_t axis);
Tensor log_softmax(Tensor x, std::int64_t axis);

// --- contraction and indexing
/// [..., M, K] · [..., K, N] → [..., M, N], NumPy's rules for rank 1 and for leading dims.
Tensor matmul(Tensor a, Tensor b);
/// x [..., K] · weightᵀ [N, K] → [..., N]
Tensor matmul_transposed(Tensor x, Tensor weight);
/// Rows of `table` [R, ...] at `index` [I...] → [I..., ...]. An index outside 0..R-1 reads the nearest row
/// (callers check beforehand).
Tensor gather(Tensor table, Tensor index);
/// Zeros [rows, ...] plus updates [I..., ...] added at index [I...]; indices outside are dropped.
Tensor scatter_add(Tensor index, Tensor updates, Dim rows);
/// f32 1 where the class equals the index: [I...] → [I..., classes]
Tensor one_hot(Tensor index, std::int64_t classes, DType dtype = DType::f32);
/// x [..., C], index [...] → [...]: the element of the last axis at index.
Tensor take_last(Tensor x, Tensor index);

// --- activations (torch.nn.functional's formulas)
Tensor relu(Tensor x);
Tensor sigmoid(Tensor x);
Tensor log_sigmoid(Tensor x);
Tensor softplus(Tensor x, double beta = 1, double threshold = 20);
Tensor silu(Tensor x);
enum class Gelu : std::uint8_t { erf, tanh };
Tensor gelu(Tensor x, Gelu kind = Gelu::erf);
Tensor leaky_relu(Tensor x, double negative_slope = 0.01);
Tensor elu(Tensor x, double alpha = 1);
Tensor selu(Tensor x);
Tensor hardtanh(Tensor x, double low = -1, double high = 1);
Tensor relu6(Tensor x);
Tensor mish(Tensor x);
Tensor hardswish(Tensor x);
Tensor hardsigmoid(Tensor x);
Tensor softsign(Tensor x);

}  // namespace tightloop
