// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/error.h>

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tightloop::train {

/// Several runs' values of one metric.
struct Spread {
  std::int64_t count = 0;
  double mean = 0;
  double deviation = 0;  ///< sample standard deviation (n - 1); NaN of one value
  double low = 0;        ///< 95 % interval of the mean: mean ± t · deviation / √n; NaN of one value
  double high = 0;
};

/// Throws InternalError without values.
Spread spread_of(std::span<const double> values);

/// Calls run(seed) for `times` seeds from `seed` on, and gives the spread of what it returns: a number. Each
/// call makes a model and an optimizer of its own, so that no run knows of the one before:
///
///     const Spread s = repeat(10, 1, [&](std::uint64_t seed) {
///       Net net;
///       return Trainer({.seed = seed}).fit(net, loss, rule, train,
///       validation).epochs.back().validation->loss;
///     });
///
/// Throws Error unless `times` is at least 1.
template <std::invocable<std::uint64_t> Run>
Spread repeat(std::int64_t times, std::uint64_t seed, Run run) {
  if (times < 1) throw Error("repeat: needs at least 1 run, not " + std::to_string(times));
  std::vector<double> values;
  for (std::int64_t i = 0; i < times; ++i) values.push_back(run(seed + static_cast<std::uint64_t>(i)));
  return spread_of(values);
}

/// The t that |T| of Student's distribution with `freedom` degrees of freedom exceeds with probability
/// 1 - `within`. freedom: at least 1.
double student_quantile(double within, std::int64_t freedom);

}  // namespace tightloop::train
