// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>
#include <cmath>

namespace tightloop::data::transforms {
namespace {

/// One number for all channels or one for each, as f32 [1, C, 1, 1].
Tensor by_channel(const Options& o, std::string_view name, const Pixels& p, bool invert) {
  const Numbers& n = o.at<Numbers>(name);
  const std::int64_t channels = std::max<std::int64_t>(p.channels, 1);
  if (n.size() != 1 && static_cast<std::int64_t>(n.size()) != channels)
    throw Error(fmt::format("{} has {} numbers, the images have {} channel{}", name, n.size(), channels,
                            channels == 1 ? "" : "s"));
  Array out(DType::f32, {1, static_cast<std::int64_t>(n.size()), 1, 1});
  for (std::size_t i = 0; i < n.size(); ++i) {
    if (!std::isfinite(n[i]) || (invert && !(n[i] > 0)))
      throw Error(fmt::format("{} must be {}, not {}", name, invert ? "greater than 0" : "finite", n[i]));
    out.set(static_cast<std::int64_t>(i), invert ? 1 / n[i] : n[i]);
  }
  return n.size() == 1 ? scalar(out.at(0)) : Tensor(out);
}

Pixels image(const Options& o, const Pixels& p, Draws&) {
  const Tensor mean = by_channel(o, "mean", p, false), factor = by_channel(o, "std", p, true);
  Pixels out = p;
  out.top = 1;
  out.at = [=](const Tensor& y, const Tensor& x) {
    const Tensor value = p.at(y, x);
    return ((p.top == 1 ? value : value * (1 / p.top)) - mean) * factor;
  };
  return out;
}

}  // namespace

const TransformDef& normalize_transform() {
  static const TransformDef def{
      "normalize",
      "(x - mean) / std, channel by channel; x of u8 images is first divided by 255",
      false,
      {{"mean", OptionType::list, {}, "one number or one for each channel", true},
       {"std", OptionType::list, {}, "one number or one for each channel", true}},
      image};
  return def;
}

}  // namespace tightloop::data::transforms
