// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace tightloop::train::report {

/// Which points of a line to draw: positions in rising order. Each of `columns` equal stretches of x keeps
/// its first, last, lowest and highest point, so that the drawn line covers the same pixels as the whole one.
/// All when there are at most 2 · columns. `x` rises; points that are not finite in y are kept as the gap
/// they are, one of each gap.
std::vector<std::size_t> thin(std::span<const double> x, std::span<const double> y, std::size_t columns);

}  // namespace tightloop::train::report
