// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

namespace tightloop::data::transforms {
namespace {

Pixels image(const Options& o, const Pixels& p, Draws& draws) {
  const Tensor turned = each(draws.chance(probability(o)));
  Pixels out = p;
  out.at = [=](const Tensor& y, const Tensor& x) {
    const auto flipped = [&](const Tensor& place) {
      return select(turned, static_cast<double>(p.width - 1) - place, place);
    };
    return p.at(y, flipped(x));
  };
  return out;
}

}  // namespace

const TransformDef& horizontal_flip_transform() {
  static const TransformDef def{
      "horizontal_flip", "left becomes right", true, {probability_option(0.5)}, image};
  return def;
}

}  // namespace tightloop::data::transforms
