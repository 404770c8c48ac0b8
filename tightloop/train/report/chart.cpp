// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/report/chart.h>
#include <tightloop/train/report/escape.h>
#include <tightloop/train/report/numbers.h>
#include <tightloop/train/report/thin.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tightloop::train::report {
namespace {

constexpr double kSide = 1000;    // of the square that SVG draws in
constexpr double kLabelGap = 17;  // pixels from one name to the next

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(double v) {
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
  }
  bool empty() const { return low > high; }
};

/// Short, as there is little room.
std::string end_text(double value) {
  return std::abs(value) < 1e4 ? number_text(value) : tick_text(std::stod(number_text(value, 3)), 0);
}

std::string percent(double share) { return place_text(100 * share) + "%"; }

/// The lines placed on their axes.
class Drawing {
 public:
  explicit Drawing(const LineChart& chart) : chart_(chart) {
    Range x, y;
    for (const Line& line : chart.lines)
      for (std::size_t i = 0; i < line.y.size(); ++i)
        if (std::isfinite(line.x[i]) && std::isfinite(line.y[i])) x.add(line.x[i]), y.add(line.y[i]);
    empty_ = y.empty();
    if (empty_) return;
    y_ = value_axis(y.low, y.high, chart.may_be_log && wants_log(y.low, y.high), 5);
    x_ = count_axis(x.low, x.high, 6);
    if (!chart.whole_x) x_ = value_axis(0, x.high, false, 6);
  }

  bool empty() const { return empty_; }

  std::string figure() const {
    std::string inside = mark_line(), over = mark_label();
    for (const Line& line : chart_.lines) inside += group(line);
    over += labels() + "<div class=tip hidden></div>";
    return fmt::format("<figure class=chart><figcaption>{}{}</figcaption>{}</figure>\n", html(chart_.title),
                       y_.log ? " <small>log scale</small>" : "",
                       frame({x_, chart_.x_name}, y_, chart_.height, description(), inside, over));
  }

 private:
  static bool shows(const Line& line, std::size_t i) {
    return std::isfinite(line.x[i]) && std::isfinite(line.y[i]);
  }
  double left(double x) const { return kSide * x_.at(x); }
  double top(double y) const { return kSide * (1 - y_.at(y)); }

  std::string description() const {
    std::string out = chart_.title + " by " + chart_.x_name;
    for (const Line& line : chart_.lines) {
      const auto last = last_point(line);
      if (last < line.y.size()) out += fmt::format("; {} ends at {}", line.name, number_text(line.y[last]));
    }
    return out;
  }

  /// line.y.size(): none.
  std::size_t last_point(const Line& line) const {
    for (std::size_t i = line.y.size(); i-- > 0;)
      if (shows(line, i)) return i;
    return line.y.size();
  }

  /// One polyline for each stretch without a gap, and the values for the script.
  std::string group(const Line& line) const {
    std::string lines, points, xs, ys;
    std::size_t count = 0;
    const auto close = [&] {
      if (count == 1) points += " " + points;  // a single point is drawn as a dot
      if (count > 0) lines += fmt::format("<polyline points=\"{}\"/>", points);
      points.clear(), count = 0;
    };
    for (const std::size_t i : thin(line.x, line.y, chart_.columns)) {
      if (!shows(line, i)) {
        close();
        continue;
      }
      points += fmt::format("{}{},{}", count++ == 0 ? "" : " ", place_text(left(line.x[i])),
                            place_text(top(line.y[i])));
      xs += (xs.empty() ? "" : " ") + number_text(line.x[i], 6);
      ys += (ys.empty() ? "" : " ") + number_text(line.y[i]);
    }
    close();
    return fmt::format("<g class=\"line {}{}\" data-name=\"{}\" data-x=\"{}\" data-y=\"{}\">{}</g>",
                       style_of(line), line.light ? " light" : "", html(line.name), xs, ys, lines);
  }

  static std::string style_of(const Line& line) {
    return fmt::format("c{} d{}", line.style % kStyles, line.style / kStyles % kDashes);
  }

  /// The names of the first lines, at their ends.
  std::string labels() const {
    std::vector<const Line*> named;
    std::vector<double> wanted;
    for (const Line& line : chart_.lines) {
      const auto last = last_point(line);
      if (last == line.y.size() || named.size() == chart_.labels) continue;
      named.push_back(&line);
      wanted.push_back(top(line.y[last]) / kSide * chart_.height);
    }
    const auto places = spread(wanted, kLabelGap, 0, chart_.height);
    std::string out;
    for (std::size_t i = 0; i < named.size(); ++i) {
      const Line& line = *named[i];
      out += fmt::format("<span class=\"end c{}\" style=\"top:{}px\" title=\"{}\">{} <b>{}</b></span>",
                         line.style % kStyles, place_text(places[i]), html(line.name), html(line.name),
                         end_text(line.y[last_point(line)]));
    }
    return out;
  }

  std::string mark_line() const {
    if (!chart_.mark) return "";
    const std::string x = place_text(left(*chart_.mark));
    std::string out = fmt::format("<path class=mark d=\"M{} 0V1000\"/>", x);
    for (const Line& line : chart_.lines)
      for (std::size_t i = 0; i < line.y.size(); ++i)
        if (line.x[i] == *chart_.mark && shows(line, i))
          out += fmt::format("<path class=\"dot c{}\" d=\"M{} {}h0\"/>", line.style % kStyles, x,
                             place_text(top(line.y[i])));
    return out;
  }

  std::string mark_label() const {
    if (!chart_.mark) return "";
    const double at = x_.at(*chart_.mark);
    return fmt::format("<span class=\"marktext{}\" style=\"left:{}\">{}</span>", at > 0.5 ? " before" : "",
                       percent(at), html(chart_.mark_text));
  }

  const LineChart& chart_;
  Axis x_, y_;
  bool empty_ = false;
};

}  // namespace

std::string line_chart(const LineChart& chart) {
  const Drawing drawing(chart);
  return drawing.empty() ? "" : drawing.figure();
}

std::vector<double> spread(const std::vector<double>& wanted, double gap, double low, double high) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return wanted[a] < wanted[b]; });
  std::vector<double> out(wanted.size());
  double next = low;
  for (const std::size_t i : order) out[i] = std::max(wanted[i], next), next = out[i] + gap;
  double limit = high;
  for (std::size_t k = order.size(); k-- > 0;) {
    double& place = out[order[k]];
    place = std::min(place, limit), limit = place - gap;
  }
  return out;
}

std::string frame(const NamedAxis& bottom, const Axis& y, int height, const std::string& name,
                  const std::string& inside, const std::string& over) {
  const Axis& x = bottom.axis;
  std::string grid, texts = "<span class=xname>" + html(bottom.name) + "</span>";
  for (std::size_t i = 0; i < y.ticks.size(); ++i) {
    const double at = 1 - y.at(y.ticks[i]);
    grid += fmt::format("M0 {}H1000", place_text(kSide * at));
    texts += fmt::format("<span class=yt style=\"top:{}\">{}</span>", percent(at), y.texts[i]);
  }
  for (std::size_t i = 0; i < x.ticks.size(); ++i)
    texts += fmt::format("<span class=xt style=\"left:{}\">{}</span>", percent(x.at(x.ticks[i])), x.texts[i]);
  return fmt::format(
      "<div class=plot style=\"height:{}px\" data-x0={} data-x1={}><svg viewBox=\"0 0 1000 1000\" "
      "preserveAspectRatio=none role=img "
      "aria-label=\"{}\"><path class=grid d=\"{}\"/>{}</svg>{}{}</div>",
      height, number_text(x.low, 9), number_text(x.high, 9), html(name), grid, inside, texts, over);
}

}  // namespace tightloop::train::report
