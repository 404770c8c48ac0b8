// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/transforms/beta.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::data::transforms {
namespace {

struct Side {
  Tensor first, last;  ///< f32[B], last not included
};

/// A box's extent about a random place, cut off at the image's edge; half of `share` of the side each way.
Side side(std::int64_t size, const Tensor& share, Draws& draws) {
  const auto length = static_cast<double>(size);
  const Tensor middle = cast(draws.whole(scalar(length, DType::i64)), DType::f32);
  const Tensor half = floor(share * (0.5 * length));
  return {maximum(middle - half, scalar(0)), minimum(middle + half, scalar(length))};
}

Mixed mix(const Options& o, const Pixels& a, const Pixels& b, Draws& draws) {
  const Tensor drawn = draw_beta(o.at<double>("alpha"), draws);
  const Tensor ratio = select(draws.chance(probability(o)), sqrt(1.0 - drawn), scalar(0));
  const Side down = side(a.height, ratio, draws), right = side(a.width, ratio, draws);
  const Tensor area = (down.last - down.first) * (right.last - right.first);
  Mixed out{a, 1.0 - area / static_cast<double>(a.height * a.width)};
  out.pixels.at = [=](const Tensor& y, const Tensor& x) {
    const auto within = [](const Tensor& place, const Side& s) {
      const Tensor at = cast(place, DType::f32);
      return logical_and(at >= each(s.first), at < each(s.last));
    };
    return select(all_channels(logical_and(within(y, down), within(x, right))), b.at(y, x), a.at(y, x));
  };
  return out;
}

}  // namespace

const TransformDef& cutmix_transform() {
  static const TransformDef def{
      "cutmix",
      "a box of another sample's image, and the target by its area, a share of Beta(alpha, alpha) (Yun et "
      "al., 2019)",
      true,
      {{"alpha", OptionType::number, 1.0, "of the share's distribution"}, probability_option(1)},
      nullptr,
      nullptr,
      mix};
  return def;
}

}  // namespace tightloop::data::transforms
