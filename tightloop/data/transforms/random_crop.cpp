// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/geometry.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::data::transforms {
namespace {

struct Sides {
  std::int64_t left = 0, top = 0, right = 0, bottom = 0;
};

Sides padding_of(const Options& o) {
  if (!o.has("padding")) return {};
  const Numbers& n = o.at<Numbers>("padding");
  for (const double v : n)
    if (!(v >= 0 && v <= 65536)) throw Error(fmt::format("padding must be at least 0, not {}", v));
  const auto side = [&](std::size_t i) { return static_cast<std::int64_t>(n[i]); };
  if (n.size() == 1) return {side(0), side(0), side(0), side(0)};
  if (n.size() == 2) return {side(0), side(1), side(0), side(1)};
  if (n.size() == 4) return {side(0), side(1), side(2), side(3)};
  throw Error("padding must be one number, [left_right, top_bottom] or [left, top, right, bottom]");
}

Pixels image(const Options& o, const Pixels& p, Draws& draws) {
  const auto [height, width] = two_sizes(o, "size");
  Sides pad = padding_of(o);
  const Padding mode = padding_mode(o.at<std::string>("padding_mode"));
  std::int64_t tall = p.height + pad.top + pad.bottom, wide = p.width + pad.left + pad.right;
  if (o.at<bool>("pad_if_needed")) {
    const std::int64_t down = std::max<std::int64_t>(height - tall, 0),
                       right = std::max<std::int64_t>(width - wide, 0);
    pad.top += down, pad.left += right;
    tall += 2 * down, wide += 2 * right;
  }
  if (height > tall || width > wide)
    throw Error(
        fmt::format("a crop of {} x {} does not fit into images of {} x {} with padding; give padding, or "
                    "pad_if_needed = true",
                    height, width, tall, wide));
  const auto from = [&](std::int64_t places, std::int64_t padding) {
    const Tensor drawn = draws.whole(scalar(static_cast<double>(places + 1), DType::i64));
    return drawn - static_cast<double>(padding);
  };
  const Tensor top = from(tall - height, pad.top), left = from(wide - width, pad.left);
  return cropped(p, top, left, height, width, o.at<double>("fill"), mode);
}

std::vector<std::pair<std::string, Options>> evaluation(const Options& o) {
  return {{"center_crop", {{"size", *o.find("size")}}}};
}

}  // namespace

const TransformDef& random_crop_transform() {
  static const TransformDef def{
      "random_crop",
      "a part of this size, anywhere in the padded image",
      true,
      {{"size", OptionType::sizes, {}, "one number or [height, width]", true},
       {"padding",
        OptionType::sizes,
        {},
        "of each side, [left_right, top_bottom], or [left, top, right, bottom]"},
       {"pad_if_needed", OptionType::boolean, false, "pads an image that is smaller than the crop"},
       {"fill", OptionType::number, 0.0, "the value of constant padding"},
       {"padding_mode", OptionType::text, std::string("constant"), "constant, edge or reflect"}},
      image,
      nullptr,
      nullptr,
      evaluation};
  return def;
}

}  // namespace tightloop::data::transforms
