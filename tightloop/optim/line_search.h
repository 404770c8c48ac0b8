// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

namespace tightloop::optim {

/// A function along a line x + t·d, seen at one t.
struct Trial {
  double t = 0;
  double value = 0;
  double slope = 0;  ///< gradient · d
  std::vector<double> gradient;
};
using Line = std::function<Trial(double t)>;

struct LineSearchResult {
  Trial best;
  std::int64_t evaluations = 0;
};

/// A step that meets the strong Wolfe conditions (value falls by 1e-4 of what the slope promises, slope falls
/// to 0.9), or the best of `most` tries after the first: bracketing and zooming with cubic interpolation,
/// after Nocedal & Wright, "Numerical optimization", 2006, algorithms 3.5 and 3.6, with the constants and the
/// choice of the better end of torch.optim.LBFGS. `start` is the trial at 0, `t` the first to try. Ends when
/// the bracket times `direction`, the largest entry of d, is below `tolerance`. A try that is not finite is
/// taken back by halves.
LineSearchResult strong_wolfe(const Line& line, const Trial& start, double t, double direction,
                              double tolerance, std::int64_t most = 25);

}  // namespace tightloop::optim
