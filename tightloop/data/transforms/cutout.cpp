// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/transforms/geometry.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::data::transforms {
namespace {

Pixels image(const Options& o, const Pixels& p, Draws& draws) {
  const auto [height, width] = two_sizes(o, "size");
  const Tensor chosen = draws.chance(probability(o));
  const auto first = [&](std::int64_t size, std::int64_t hole) {
    return draws.whole(scalar(static_cast<double>(size), DType::i64)) - static_cast<double>(hole / 2);
  };
  const auto whole = [](std::int64_t n) { return scalar(static_cast<double>(n), DType::i64); };
  const Tensor top = first(p.height, height), left = first(p.width, width);
  return erased(p, top, left, whole(height), whole(width), chosen, o.at<double>("value"));
}

}  // namespace

const TransformDef& cutout_transform() {
  static const TransformDef def{
      "cutout",
      "a box of this size around a random pixel gets one value (DeVries and Taylor, 2017)",
      true,
      {{"size", OptionType::sizes, {}, "one number or [height, width]", true},
       {"value", OptionType::number, 0.0, "the value"},
       probability_option(1)},
      image};
  return def;
}

}  // namespace tightloop::data::transforms
