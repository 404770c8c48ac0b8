// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a few noisy times say about which of two ways is the faster one.
#include <cstdint>
#include <string_view>
#include <vector>

namespace tightloop::train::tune {

/// The middle one of the sorted values, the mean of the two in the middle where their count is even. Throws
/// InternalError when there are none.
double median(std::vector<double> values);

/// An estimate with its bounds.
struct Interval {
  double middle = 0, low = 0, high = 0;
  double coverage = 0;  ///< how likely the true median lies between the bounds, whatever the noise
};

/// The median between two order statistics: sorted values k and n + 1 - k cover the true median with
/// 1 - 2 · P(Binomial(n, 1/2) < k); k is the largest whose coverage reaches `level`, or 1 (a sign test turned
/// round). No law of the noise is assumed but that the values are independent. Five values are the fewest
/// that reach 0.9. Throws InternalError when there are none.
Interval median_interval(const std::vector<double>& values, double level = 0.9);

enum class Verdict : std::uint8_t { faster, slower, noise, open };
std::string_view name(Verdict verdict);

/// What the ratios "time of the one over time of the other" say about the other: faster when the whole
/// interval is above 1 and its middle at least 1 + `least`; slower when all of it is below 1 / (1 + least);
/// noise when all of it is below 1 + `least`; else open, as more of them may tell. `level` is the coverage
/// that faster, slower and noise need.
Verdict judge(const Interval& gain, double least, double level = 0.9);

}  // namespace tightloop::train::tune
