// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/profile/drawings.h>
#include <tightloop/train/report/chart.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <vector>

namespace tightloop::train::profile {
namespace {

using report::place_text;

struct Point {
  const ProfileRow* row;
  double intensity, speed;  ///< operations a byte, GFLOP/s
};

std::vector<Point> points_of(const Profile& p) {
  constexpr std::size_t most = 200;
  std::vector<Point> out;
  for (const ProfileRow& row : p.rows)  // the longest first
    if (row.flops > 0 && row.bytes > 0 && row.seconds > 0 && out.size() < most)
      out.push_back({&row, row.flops / row.bytes, 1e-9 * row.flops / row.seconds});
  return out;
}

double place(const report::Axis& axis, double value) {
  return std::clamp(1000 * axis.at(value), 0.0, 1000.0);
}

/// What the memory and then the arithmetic allow.
std::string roof(const Profile& p, const report::Axis& x, const report::Axis& y) {
  const double knee = std::clamp(p.peak_gflops / p.bandwidth, x.low, x.high);
  const auto at = [&](double intensity) {
    const double speed = std::min(p.peak_gflops, intensity * p.bandwidth);
    return fmt::format("{} {}", place_text(place(x, intensity)), place_text(1000 - place(y, speed)));
  };
  return fmt::format("<path class=guide d=\"M{}L{}L{}\"/>", at(x.low), at(knee), at(x.high));
}

std::string dot(const Profile& p, const Point& point, const report::Axis& x, const report::Axis& y) {
  const double share = point.row->seconds / std::max(p.step, 1e-12);
  return fmt::format(
      "<path class=\"dot c{}\" style=\"stroke-width:{}\" d=\"M{} {}h0\"><title>{}: {:.3g} GFLOP/s, {:.0f} % "
      "of "
      "what the machine reaches, {} of the step</title></path>",
      colour_of(point.row->category), place_text(5 + 18 * std::sqrt(share)),
      place_text(place(x, point.intensity)), place_text(1000 - place(y, point.speed)),
      report::html(point.row->label), point.speed, 100 * point.row->floor / point.row->seconds,
      report::percent_text(share));
}

}  // namespace

std::string roofline(const Profile& p) {
  const auto points = points_of(p);
  if (points.empty() || p.peak_gflops <= 0 || p.bandwidth <= 0) return "";
  double left = p.peak_gflops / p.bandwidth, right = left, low = p.peak_gflops;
  for (const Point& point : points) {
    left = std::min(left, point.intensity);
    right = std::max(right, point.intensity);
    low = std::min(low, point.speed);
  }
  const auto x = report::value_axis(left / 2, right * 2, true, 6);
  const auto y = report::value_axis(std::max(low / 2, p.peak_gflops * 1e-5), p.peak_gflops * 1.5, true, 5);
  std::string inside = roof(p, x, y);
  for (const Point& point : points) inside += dot(p, point, x, y);
  const std::string name = fmt::format("Roofline: {} kernels under {:.4g} GFLOP/s and {:.4g} GB/s",
                                       points.size(), p.peak_gflops, p.bandwidth);
  return fmt::format(
      "<figure class=\"chart scatter roofline\"><figcaption>Roofline <small>GFLOP/s by operations a byte; "
      "larger "
      "dots take more of the step</small></figcaption>{}</figure>\n",
      report::frame({x, "operations a byte"}, y, 300, name, inside, ""));
}

}  // namespace tightloop::train::profile
