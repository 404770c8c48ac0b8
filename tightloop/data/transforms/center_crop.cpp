// SPDX-License-Identifier: Apache-2.0
#include <tightloop/data/transforms/geometry.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

#include <cmath>

namespace tightloop::data::transforms {
namespace {

Pixels image(const Options& o, const Pixels& p, Draws&) {
  const auto [height, width] = two_sizes(o, "size");
  // Half a pixel goes where torchvision puts it: rounded to even inside, padded on the right outside.
  const auto first = [](std::int64_t size, std::int64_t wanted) {
    const std::int64_t more = wanted - size;
    return scalar(more > 0 ? -static_cast<double>(more / 2) : std::nearbyint(static_cast<double>(-more) / 2),
                  DType::i64);
  };
  return cropped(p, first(p.height, height), first(p.width, width), height, width);
}

}  // namespace

const TransformDef& center_crop_transform() {
  static const TransformDef def{"center_crop",
                                "the middle of the image; zeros around one that is smaller",
                                false,
                                {{"size", OptionType::sizes, {}, "one number or [height, width]", true}},
                                image};
  return def;
}

}  // namespace tightloop::data::transforms
