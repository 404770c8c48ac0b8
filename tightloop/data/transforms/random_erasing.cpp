// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/geometry.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::data::transforms {
namespace {

Pixels image(const Options& o, const Pixels& p, Draws& draws) {
  const Tensor chosen = draws.chance(probability(o));
  const auto scale = range(o, "scale"), ratio = range(o, "ratio");
  if (!(scale.first >= 0) || !(scale.second <= 1) || !(ratio.first > 0))
    throw Error("scale must lie in 0..1, and ratio must be greater than 0");
  const DrawnBox box = draw_box(p, scale, ratio, true, draws);
  const Tensor height = cast(box.height, DType::i64), width = cast(box.width, DType::i64);
  const auto first = [&](std::int64_t size, const Tensor& part) {
    const Tensor places = static_cast<double>(size + 1) - part;
    return draws.whole(maximum(places, scalar(1, DType::i64)));
  };
  const Tensor top = first(p.height, height), left = first(p.width, width);
  return erased(p, top, left, height, width, logical_and(chosen, box.found), o.at<double>("value"));
}

}  // namespace

const TransformDef& random_erasing_transform() {
  static const TransformDef def{
      "random_erasing",
      "a box of random area and shape gets one value",
      true,
      {probability_option(0.5),
       {"scale", OptionType::list, Numbers{0.02, 0.33}, "share of the area, low and high"},
       {"ratio", OptionType::list, Numbers{0.3, 3.3}, "width to height, low and high"},
       {"value", OptionType::number, 0.0, "the value"}},
      image};
  return def;
}

}  // namespace tightloop::data::transforms
