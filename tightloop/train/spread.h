// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

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

/// The t that |T| of Student's distribution with `freedom` degrees of freedom exceeds with probability
/// 1 - `within`. freedom: at least 1.
double student_quantile(double within, std::int64_t freedom);

}  // namespace tightloop::train
