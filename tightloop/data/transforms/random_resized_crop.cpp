// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/geometry.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

#include <algorithm>
#include <cmath>

namespace tightloop::data::transforms {
namespace {

/// What is taken when ten draws did not fit: the middle, in the nearest allowed shape.
std::pair<double, double> fallback(const Pixels& p, std::pair<double, double> ratio) {
  const double height = static_cast<double>(p.height), width = static_cast<double>(p.width);
  if (width / height < ratio.first) return {std::nearbyint(width / ratio.first), width};
  if (width / height > ratio.second) return {height, std::nearbyint(height * ratio.second)};
  return {height, width};
}

Pixels image(const Options& o, const Pixels& p, Draws& draws) {
  const auto [height, width] = two_sizes(o, "size");
  const auto scale = range(o, "scale"), ratio = range(o, "ratio");
  if (!(scale.first > 0) || !(ratio.first > 0)) throw Error("scale and ratio must be greater than 0");
  const DrawnBox box = draw_box(p, scale, ratio, false, draws);
  const auto [tall, wide] = fallback(p, ratio);
  const Tensor h = select(box.found, box.height, scalar(tall)),
               w = select(box.found, box.width, scalar(wide));
  const auto first = [&](std::int64_t size, const Tensor& part, double middle) {
    const Tensor places = cast(static_cast<double>(size) - part, DType::i64) + 1.0;
    return select(box.found, cast(draws.whole(maximum(places, scalar(1, DType::i64))), DType::f32),
                  scalar(std::floor((static_cast<double>(size) - middle) / 2)));
  };
  const Tensor top = first(p.height, h, tall), left = first(p.width, w, wide);
  return resized_box(p, top, left, h, w, height, width, o.at<std::string>("interpolation"));
}

std::vector<std::pair<std::string, Options>> evaluation(const Options& o) {
  const Numbers& size = o.at<Numbers>("size");
  const Numbers shorter{*std::max_element(size.begin(), size.end())};
  return {{"resize", {{"size", shorter}, {"interpolation", *o.find("interpolation")}}},
          {"center_crop", {{"size", size}}}};
}

}  // namespace

const TransformDef& random_resized_crop_transform() {
  static const TransformDef def{
      "random_resized_crop",
      "a part of random area and shape, brought to this size",
      true,
      {{"size", OptionType::sizes, {}, "one number or [height, width]", true},
       {"scale", OptionType::list, Numbers{0.08, 1.0}, "share of the area, low and high"},
       {"ratio", OptionType::list, Numbers{3.0 / 4, 4.0 / 3}, "width to height, low and high"},
       {"interpolation", OptionType::text, std::string("bilinear"), "bilinear or nearest"}},
      image,
      nullptr,
      nullptr,
      evaluation};
  return def;
}

}  // namespace tightloop::data::transforms
