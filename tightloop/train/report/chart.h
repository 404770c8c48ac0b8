// SPDX-License-Identifier: Apache-2.0
#pragma once
// Charts as HTML: the lines are SVG that stretches with the page, ticks and labels are text that does not, so
// that a chart is as readable on a phone as on a wide screen.
#include <tightloop/train/report/axis.h>

#include <optional>
#include <string>
#include <vector>

namespace tightloop::train::report {

inline constexpr int kStyles = 8;  ///< colours of lines
inline constexpr int kDashes = 3;  ///< ways to draw each

/// A line over rising x; y that is not finite is a gap.
struct Line {
  std::string name;
  std::vector<double> x, y;
  int style = 0;       ///< colour and dashes: 0, 1, 2, …
  bool light = false;  ///< drawn thinner: what the others are compared with
};

struct LineChart {
  std::string title;
  std::string x_name = "epoch";
  std::vector<Line> lines;
  std::optional<double> mark = {};  ///< the x of a vertical line
  std::string mark_text = {};
  bool may_be_log = true;     ///< the axis of y is logarithmic where the numbers ask for it
  bool whole_x = true;        ///< x is counted
  int height = 240;           ///< pixels of the part with the lines
  std::size_t labels = 12;    ///< at most so many lines get their name at their end
  std::size_t columns = 250;  ///< stretches of x: a longer line has up to four points in each
};

/// A <figure> with ticks at round numbers, the name and the last value of each line at its end, and what a
/// script needs to show the values under the pointer. "" when no line has a point.
std::string line_chart(const LineChart& chart);

/// Places at least `gap` apart and as near to `wanted` as that allows, inside [low, high] while there is
/// room, in the order given.
std::vector<double> spread(const std::vector<double>& wanted, double gap, double low, double high);

struct NamedAxis {
  Axis axis;
  std::string name;
};

/// The part of a figure around lines and points: grid, ticks and their texts. `inside` is SVG in a square of
/// 1000 whose y runs down, `over` is HTML placed in percent. `name` describes it to those who cannot see it.
std::string frame(const NamedAxis& bottom, const Axis& y, int height, const std::string& name,
                  const std::string& inside, const std::string& over);

}  // namespace tightloop::train::report
