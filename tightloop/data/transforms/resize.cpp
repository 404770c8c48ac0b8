// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/geometry.h>
#include <tightloop/data/transforms/index.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::data::transforms {
namespace {

/// One number is the shorter side; the other keeps the shape.
std::pair<std::int64_t, std::int64_t> new_size(const Options& o, const Pixels& p) {
  auto [height, width] = two_sizes(o, "size");
  if (o.at<Numbers>("size").size() == 2) return {height, width};
  const bool tall = p.height > p.width;
  const std::int64_t longer = height * std::max(p.height, p.width) / std::min(p.height, p.width);
  return tall ? std::pair{longer, height} : std::pair{height, longer};
}

Pixels image(const Options& o, const Pixels& p, Draws&) {
  const auto [height, width] = new_size(o, p);
  const std::string& how = o.at<std::string>("interpolation");
  if (height == p.height && width == p.width) return p;
  return resized(p, height, width, how);
}

}  // namespace

const TransformDef& resize_transform() {
  static const TransformDef def{
      "resize",
      "images of another size; one number is the shorter side",
      false,
      {{"size", OptionType::sizes, {}, "the shorter side, or [height, width]", true},
       {"interpolation", OptionType::text, std::string("bilinear"), "bilinear or nearest"}},
      image};
  return def;
}

}  // namespace tightloop::data::transforms
