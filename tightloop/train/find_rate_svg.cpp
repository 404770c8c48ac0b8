// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/find_rate.h>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

namespace tightloop::train {
namespace {

constexpr double kWidth = 640, kHeight = 400, kLeft = 70, kRight = 20, kTop = 20, kBottom = 50;

/// Rates by their logarithm from left to right, losses from the bottom up.
class Frame {
 public:
  explicit Frame(const std::vector<RatePoint>& points) {
    low_ = std::log10(points.front().rate), high_ = std::log10(points.back().rate);
    if (high_ <= low_) high_ = low_ + 1;
    bottom_ = top_ = points.front().smoothed;
    for (const RatePoint& p : points)
      bottom_ = std::min(bottom_, p.smoothed), top_ = std::max(top_, p.smoothed);
    const double room = std::max((top_ - bottom_) * 0.05, 1e-12 + std::fabs(top_) * 1e-6);
    bottom_ -= room, top_ += room;
  }
  double x(double rate) const {
    return kLeft + (std::log10(rate) - low_) / (high_ - low_) * (kWidth - kLeft - kRight);
  }
  /// Raw losses may lie outside.
  double y(double loss) const {
    const double share = std::clamp((loss - bottom_) / (top_ - bottom_), 0.0, 1.0);
    return kHeight - kBottom - share * (kHeight - kTop - kBottom);
  }
  int first_decade() const { return static_cast<int>(std::ceil(low_ - 1e-9)); }
  int last_decade() const { return static_cast<int>(std::floor(high_ + 1e-9)); }
  double loss_at(double share) const { return bottom_ + share * (top_ - bottom_); }

 private:
  double low_, high_, bottom_, top_;
};

template <class Value>
std::string line(const Frame& frame, const std::vector<RatePoint>& points, const char* style, Value value) {
  std::string out = fmt::format("<polyline fill=\"none\" {} points=\"", style);
  for (const RatePoint& p : points) out += fmt::format("{:.1f},{:.1f} ", frame.x(p.rate), frame.y(value(p)));
  return out + "\"/>\n";
}

std::string axes(const Frame& frame) {
  std::string out;
  const double bottom = kHeight - kBottom;
  for (int decade = frame.first_decade(); decade <= frame.last_decade(); ++decade) {
    const double x = frame.x(std::pow(10.0, decade));
    out += fmt::format(
        "<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">1e{4}</text>\n",
        x, kTop, bottom, bottom + 18, decade);
  }
  for (int i = 0; i <= 4; ++i) {
    const double loss = frame.loss_at(i / 4.0), y = frame.y(loss);
    out += fmt::format(
        "<path d=\"M{0} {1:.1f}H{2}\" stroke=\"#ddd\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5:.4g}</text>\n",
        kLeft, y, kWidth - kRight, kLeft - 8, y + 4, loss);
  }
  return out + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">learning rate</text>\n",
                           (kLeft + kWidth - kRight) / 2, kHeight - 10);
}

std::string mark(const Frame& frame, const RateResult& result) {
  if (!result.suggestion) return "";
  for (const RatePoint& p : result.points)
    if (p.rate == *result.suggestion)
      return fmt::format(
          "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"5\" fill=\"#d33\"/><text x=\"{0:.1f}\" "
          "y=\"{2:.1f}\" text-anchor=\"middle\">{3:.3g}</text>\n",
          frame.x(p.rate), frame.y(p.smoothed), frame.y(p.smoothed) - 10, p.rate);
  return "";
}

}  // namespace

std::string to_svg(const RateResult& result) {
  const std::string head = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      kWidth, kHeight);
  if (result.points.empty()) return head + "</svg>\n";
  const Frame frame(result.points);
  return head + axes(frame) +
         line(frame, result.points, "stroke=\"#bcd\"", [](const RatePoint& p) { return p.loss; }) +
         line(frame, result.points, "stroke=\"#06c\" stroke-width=\"2\"",
              [](const RatePoint& p) { return p.smoothed; }) +
         mark(frame, result) + "</svg>\n";
}

}  // namespace tightloop::train
