// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/pairs.h>

#include <algorithm>

namespace tightloop::train::tune {
namespace {

constexpr std::size_t kHastyPairs = 3;

bool shows_no_gain(const Comparison& c, double least) {
  return std::all_of(c.ratios.begin(), c.ratios.end(), [&](double r) { return r < 1 + least; });
}

}  // namespace

Comparison compare(Measurer& measurer, const Settings& one, const Settings& other,
                   const PairOptions& options) {
  Comparison out;
  while (out.ratios.size() < options.most &&
         (out.ratios.size() < options.least || measurer.now() < options.deadline)) {
    const bool other_first = out.ratios.size() % 2 == 1;
    double b = other_first ? measurer.seconds_per_sample(other, options.slice) : 0;
    const double a = measurer.seconds_per_sample(one, options.slice);
    if (!other_first) b = measurer.seconds_per_sample(other, options.slice);
    out.ratios.push_back(a / b), out.first.push_back(a);
    out.gain = median_interval(out.ratios, options.level);
    out.verdict = judge(out.gain, options.least_gain, options.level);
    if (out.verdict != Verdict::open) break;
    if (options.hasty && out.ratios.size() == kHastyPairs && shows_no_gain(out, options.least_gain)) {
      out.verdict = Verdict::noise;
      break;
    }
  }
  return out;
}

}  // namespace tightloop::train::tune
