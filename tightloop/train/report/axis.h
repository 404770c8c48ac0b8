// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace tightloop::train::report {

/// Round numbers (1, 2 or 5 times a power of ten apart) in [low, high], `wanted` of them or a few less or
/// more. One number when low equals high; none unless low <= high and both are finite.
std::vector<double> linear_ticks(double low, double high, int wanted);

/// Powers of ten in [low, high], every n-th where there are more than `wanted`; where there are fewer than
/// three, 2 and 5 times such powers too. None unless 0 < low <= high and both are finite.
std::vector<double> log_ticks(double low, double high, int wanted);

/// A scale from numbers to places, with the ticks at which it is read.
struct Axis {
  double low = 0, high = 1;
  bool log = false;
  std::vector<double> ticks;
  std::vector<std::string> texts;  ///< one a tick

  /// 0 at the low end, 1 at the high one; outside where `value` is.
  double at(double value) const;
};

/// An axis over [low, high] exactly, for what is counted: ticks are whole numbers.
Axis count_axis(double low, double high, int wanted);
/// An axis whose ends are ticks. `log` is taken only when low is over 0. A linear one begins at 0 where the
/// numbers come near it.
Axis value_axis(double low, double high, bool log, int wanted);

/// A tick whose neighbours are `step` away: "0.25", "1200", "12k", "3.5M", "1e-5".
std::string tick_text(double value, double step);

/// True where a logarithmic axis shows more: all values over 0 and the largest at least 30 times the
/// smallest.
bool wants_log(double low, double high);

}  // namespace tightloop::train::report
