// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/compile.h>

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace tightloop {

struct ScanOptions {
  std::int64_t axis = 0;  ///< of xs, along which the steps lie, and of the results
  bool reverse = false;   ///< from the last step to the first; results lie where their step does
};

namespace detail {

/// The steps along `axis` that all `xs` share. Throws Error unless there are some, and they are a number.
std::int64_t scan_steps(const std::vector<Tensor>& xs, std::int64_t axis);
/// Entry t of each, without the axis.
std::vector<Tensor> scan_entries(const std::vector<Tensor>& xs, std::int64_t axis, std::int64_t t);
/// Throws Error unless the carry keeps its types.
void check_carry(const std::vector<Tensor>& before, const std::vector<Tensor>& after, std::int64_t step);
/// results[t][i] of all t along `axis`, for each i.
std::vector<Tensor> scan_results(const std::vector<std::vector<Tensor>>& results, std::int64_t axis);

}  // namespace detail

/// A loop over steps that can be differentiated, as jax.lax.scan:
///
///     for each t: (carry, y_t) = fn(carry, x_t)
///
/// gives (the last carry, all y along a leading axis). `xs` holds the x_t along its leading axis (`axis`); or
/// it is a number of steps, and fn takes the carry alone. carry, x_t and y_t are tensors, or vectors, arrays,
/// pairs and tuples of them (std::tuple<>() for no y). The steps are unrolled in the graph: their number is
/// part of a compiled function, which grows with it (about 10 ms of compiling for each 1,000 operations), and
/// gradients keep what every step computed. Throws Error when shapes do not fit, and when fn returns a carry
/// of other types than it got.
template <class Fn, class Carry, class Xs>
auto scan(Fn&& fn, const Carry& init, const Xs& xs, ScanOptions options = {}) {
  using State = detail::Argument<Carry>;
  constexpr bool counted = std::is_integral_v<Xs>;
  using Entries = std::conditional_t<counted, std::tuple<>, detail::Argument<Xs>>;
  Entries entries;
  std::int64_t steps = 0;
  std::vector<Tensor> inputs;
  if constexpr (counted) {
    steps = static_cast<std::int64_t>(xs);
    if (steps < 1) throw Error("scan: there must be at least one step, not " + std::to_string(steps));
  } else {
    entries = Entries(xs);
    inputs = tensors_in(entries);
    steps = detail::scan_steps(inputs, options.axis);
  }
  const auto step = [&](const State& state, std::int64_t t) {
    if constexpr (counted)
      return fn(state);
    else
      return fn(state, with_tensors(entries, detail::scan_entries(inputs, options.axis, t)));
  };
  using Pair = decltype(step(std::declval<State>(), 0));
  static_assert(std::tuple_size_v<Pair> == 2, "scan: the function returns (carry, y)");
  static_assert(std::is_same_v<std::tuple_element_t<0, Pair>, State>,
                "scan: the function returns a carry of the type that it takes");
  State state(init);
  std::vector<std::vector<Tensor>> results(static_cast<std::size_t>(steps));
  std::tuple_element_t<1, Pair> form;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t t = options.reverse ? steps - 1 - i : i;
    auto [next, y] = step(state, t);
    detail::check_carry(tensors_in(state), tensors_in(next), t);
    results[static_cast<std::size_t>(t)] = tensors_in(y);
    state = std::move(next);
    form = std::move(y);
  }
  return std::make_pair(std::move(state),
                        with_tensors(std::move(form), detail::scan_results(results, options.axis)));
}

}  // namespace tightloop
