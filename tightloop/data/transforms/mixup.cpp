// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/transforms/beta.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::data::transforms {
namespace {

Mixed mix(const Options& o, const Pixels& a, const Pixels& b, Draws& draws) {
  const Tensor drawn = draw_beta(o.at<double>("alpha"), draws);
  const Tensor share = select(draws.chance(probability(o)), drawn, scalar(1));
  const Tensor own = all_channels(each(share));
  Mixed out{a, share};
  out.pixels.at = [=](const Tensor& y, const Tensor& x) {
    return select(own == 1.0, a.at(y, x), a.at(y, x) * own + b.at(y, x) * (1.0 - own));
  };
  return out;
}

}  // namespace

const TransformDef& mixup_transform() {
  static const TransformDef def{
      "mixup",
      "images and targets of two samples, averaged with a share of Beta(alpha, alpha) (Zhang et al., 2018)",
      true,
      {{"alpha", OptionType::number, 1.0, "of the share's distribution"}, probability_option(1)},
      nullptr,
      nullptr,
      mix};
  return def;
}

}  // namespace tightloop::data::transforms
