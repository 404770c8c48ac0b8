// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/tune/measure.h>
#include <tightloop/train/tune/statistics.h>

#include <vector>

namespace tightloop::train::tune {

struct PairOptions {
  double slice = 0.1;   ///< seconds of a trial
  double deadline = 0;  ///< of Measurer::now(): no pair begins behind it
  double least_gain = 0.02, level = 0.9;
  std::size_t least = 0;  ///< pairs that come even behind the deadline
  std::size_t most = 15;  ///< pairs
  bool hasty = false;     ///< ends after three pairs that show no gain
};

struct Comparison {
  std::vector<double> ratios;  ///< time of the one over time of the other, a trial of each beside the other
  std::vector<double> first;   ///< seconds a sample of the one
  Interval gain;               ///< of no meaning while there are no ratios
  Verdict verdict = Verdict::open;
};

/// Measures two ways in turn, ABBAAB…, so that a machine that gets slower or faster does not favour one,
/// until the ratios have a verdict, or there is no time for more.
Comparison compare(Measurer& measurer, const Settings& one, const Settings& other,
                   const PairOptions& options);

}  // namespace tightloop::train::tune
