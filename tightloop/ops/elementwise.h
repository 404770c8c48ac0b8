// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the elementwise op files share beyond rules.h: evaluation from scalar functions, and samples.
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tightloop::ops {

/// out[i] = f(inputs[i]...), computed in double.
template <class F>
void map(const EvalArgs& a, F f) {
  for (std::int64_t i = 0; i < a.out.count(); ++i) {
    const auto x = [&](std::size_t k) { return a.inputs[k]->at(i); };
    if constexpr (std::is_invocable_v<F, double>)
      a.out.set(i, f(x(0)));
    else
      a.out.set(i, f(x(0), x(1)));
  }
}

/// The same in exact 64-bit integers, wrapping where the result is stored.
template <class F>
void map_integers(const EvalArgs& a, F f) {
  for (std::int64_t i = 0; i < a.out.count(); ++i) {
    const auto x = [&](std::size_t k) { return a.inputs[k]->int_at(i); };
    if constexpr (std::is_invocable_v<F, std::int64_t>)
      a.out.set_int(i, f(x(0)));
    else
      a.out.set_int(i, f(x(0), x(1)));
  }
}

/// Floating inputs by `real`, others by `whole`.
template <class F, class G>
void map(const EvalArgs& a, F real, G whole) {
  if (is_floating(a.inputs[0]->dtype()))
    map(a, real);
  else
    map_integers(a, whole);
}

/// Wrapping arithmetic on the bits of signed integers.
constexpr std::int64_t wrap_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrap_sub(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
constexpr std::int64_t wrap_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// `n` equal inputs of sizes that leave vector remainders: f32 and f64, values in [low, high].
Samples float_samples(std::size_t n, double low = -2, double high = 2);
/// The same for i32, i64 and u8.
Samples integer_samples(std::size_t n, double low = 0, double high = 9);
Samples number_samples(std::size_t n, double low = -2, double high = 2);
Samples logical_samples(std::size_t n);

/// `value` where the function is regular or the incoming gradient is not zero, else 0: a branch that
/// select() did not take sends a zero gradient, which must not become 0·∞ = NaN at a singular point.
Tensor guard(const Tensor& regular, const Tensor& g, const Tensor& value);

}  // namespace tightloop::ops
