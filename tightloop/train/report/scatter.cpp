// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/chart.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/scatter.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace tightloop::train::report {
namespace {

constexpr int kCells = 100;  // along each side: points in the same cell are one dot

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double v) { low = std::min(low, v), high = std::max(high, v); }
};

/// An axis over `range`, its ends not moved out to ticks: the points fill the drawing.
Axis around(Range range) {
  const double margin =
      range.low < range.high ? 0.03 * (range.high - range.low) : std::max(std::abs(range.low) / 2, 0.5);
  Axis out{range.low - margin, range.high + margin, false, {}, {}};
  out.ticks = linear_ticks(out.low, out.high, 5);
  const double step = out.ticks.size() > 1 ? out.ticks[1] - out.ticks[0] : 1;
  for (const double t : out.ticks) out.texts.push_back(tick_text(t, step));
  return out;
}

/// How many points lie in each cell, by column and row.
std::map<std::pair<int, int>, int> cells_of(const Scatter& s, const Axis& x, const Axis& y) {
  std::map<std::pair<int, int>, int> out;
  for (std::size_t i = 0; i < s.x.size(); ++i)
    if (std::isfinite(s.x[i]) && std::isfinite(s.y[i]))
      ++out[{static_cast<int>(std::lround(x.at(s.x[i]) * kCells)),
             static_cast<int>(std::lround((1 - y.at(s.y[i])) * kCells))}];
  return out;
}

/// Dots in three shades, by how many points a cell has.
std::string dots(const std::map<std::pair<int, int>, int>& cells) {
  std::array<std::string, 3> paths;
  for (const auto& [cell, count] : cells) {
    const std::size_t shade = count < 2 ? 0 : count < 5 ? 1 : 2;
    paths[shade] += fmt::format("M{} {}h0", 10 * cell.first, 10 * cell.second);
  }
  std::string out;
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!paths[i].empty()) out += fmt::format("<path class=\"points p{}\" d=\"{}\"/>", i, paths[i]);
  return out;
}

std::string guide_line(Guide guide, const Axis& x, const Axis& y) {
  const double low = guide == Guide::zero ? 0 : std::max(x.low, y.low);
  const double high = guide == Guide::zero ? 0 : std::min(x.high, y.high);
  const double left = guide == Guide::zero ? 0 : 1000 * x.at(low);
  const double right = guide == Guide::zero ? 1000 : 1000 * x.at(high);
  return fmt::format("<path class=guide d=\"M{} {}L{} {}\"/>", place_text(left),
                     place_text(1000 * (1 - y.at(low))), place_text(right),
                     place_text(1000 * (1 - y.at(high))));
}

}  // namespace

std::string scatter_chart(const Scatter& s) {
  Range rx, ry;
  for (std::size_t i = 0; i < s.x.size(); ++i)
    if (std::isfinite(s.x[i]) && std::isfinite(s.y[i])) rx.add(s.x[i]), ry.add(s.y[i]);
  if (rx.low > rx.high) return "";
  if (s.guide == Guide::zero) ry.add(0);
  if (s.guide == Guide::diagonal) rx.add(ry.low), rx.add(ry.high), ry = rx;
  const Axis x = around(rx), y = around(ry);
  const std::string name =
      fmt::format("{}: {} points", s.title, count_text(static_cast<std::int64_t>(s.x.size())));
  return fmt::format(
      "<figure class=\"chart scatter\"><figcaption>{} <small>{}</small></figcaption>{}</figure>\n",
      html(s.title), html(s.y_name),
      frame({x, s.x_name}, y, s.height, name, guide_line(s.guide, x, y) + dots(cells_of(s, x, y)), ""));
}

}  // namespace tightloop::train::report
