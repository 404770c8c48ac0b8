// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

namespace tightloop::train::report {

enum class Guide { diagonal, zero };  ///< the line on which a perfect model's points lie: y = x, y = 0

struct Scatter {
  std::string title, x_name, y_name;
  std::span<const double> x, y;  ///< points with a number that is not finite are left out
  Guide guide = Guide::diagonal;
  int height = 260;  ///< pixels
};

/// A <figure> of points and the guide; darker where points are many. Its size is bounded by its pixels and
/// not by the number of points. "" without a point.
std::string scatter_chart(const Scatter& scatter);

}  // namespace tightloop::train::report
