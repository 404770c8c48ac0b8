// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/geometry.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>
#include <numbers>

namespace tightloop::data::transforms {
namespace {

std::pair<double, double> degrees(const Options& o) {
  const Numbers& n = o.at<Numbers>("degrees");
  if (n.size() != 1) return range(o, "degrees");
  if (n[0] < 0) throw Error(fmt::format("degrees must be at least 0, or two numbers, not {}", n[0]));
  return {-n[0], n[0]};
}

/// The pixel nearest to a place, or `fill` where that is outside.
Tensor read_nearest(const Pixels& p, const Tensor& y, const Tensor& x, double fill) {
  const Tensor row = round(y), column = round(x);
  const auto inside = [](const Tensor& t, std::int64_t size) {
    return logical_and(t >= 0.0, t <= static_cast<double>(size - 1));
  };
  return select(all_channels(logical_and(inside(row, p.height), inside(column, p.width))),
                nearest_at(p, row, column), scalar(fill));
}

/// Four pixels around a place; those outside are `fill`.
Tensor read_bilinear(const Pixels& p, const Tensor& y, const Tensor& x, double fill) {
  const Tensor top = floor(y), left = floor(x);
  const Tensor dy = all_channels(y - top), dx = all_channels(x - left);
  const Tensor upper =
      read_nearest(p, top, left, fill) * (1.0 - dx) + read_nearest(p, top, left + 1.0, fill) * dx;
  const Tensor lower =
      read_nearest(p, top + 1.0, left, fill) * (1.0 - dx) + read_nearest(p, top + 1.0, left + 1.0, fill) * dx;
  return upper * (1.0 - dy) + lower * dy;
}

Pixels image(const Options& o, const Pixels& p, Draws& draws) {
  const auto [low, high] = degrees(o);
  const double fill = o.at<double>("fill");
  const std::string& how = o.at<std::string>("interpolation");
  interpolation(how);
  const auto read = how == "nearest" ? read_nearest : read_bilinear;
  const Tensor angle = draws.uniform(low, high) * (std::numbers::pi / 180);
  const Tensor cosine = each(cos(angle)), sine = each(sin(angle));
  const double middle_y = static_cast<double>(p.height - 1) / 2,
               middle_x = static_cast<double>(p.width - 1) / 2;
  Pixels out = p;
  out.at = [=](const Tensor& y, const Tensor& x) {
    const Tensor down = cast(y, DType::f32) - middle_y, right = cast(x, DType::f32) - middle_x;
    return read(p, sine * right + cosine * down + middle_y, cosine * right - sine * down + middle_x, fill);
  };
  return out;
}

}  // namespace

const TransformDef& rotation_transform() {
  static const TransformDef def{
      "rotation",
      "turned about the middle by an angle between -degrees and degrees, or low and high; counter-clockwise",
      true,
      {{"degrees", OptionType::list, {}, "the largest angle, or low and high", true},
       {"interpolation", OptionType::text, std::string("nearest"), "nearest or bilinear"},
       {"fill", OptionType::number, 0.0, "the value of places outside the image"}},
      image};
  return def;
}

}  // namespace tightloop::data::transforms
