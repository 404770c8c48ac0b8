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
      return select(turned, static_cast<double>(p.height - 1) - place, place);
    };
    return p.at(flipped(y), x);
  };
  return out;
}

}  // namespace

const TransformDef& vertical_flip_transform() {
  static const TransformDef def{"vertical_flip", "up becomes down", true, {probability_option(0.5)}, image};
  return def;
}

}  // namespace tightloop::data::transforms
