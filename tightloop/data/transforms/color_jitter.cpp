// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>
#include <optional>

namespace tightloop::data::transforms {
namespace {

/// low and high of a factor; nothing when it never changes anything.
std::optional<std::pair<double, double>> factors(const Options& o, std::string_view name, double middle,
                                                 double low, double high) {
  const Numbers& n = o.at<Numbers>(name);
  std::pair<double, double> out;
  if (n.size() == 1) {
    if (!(n[0] >= 0)) throw Error(fmt::format("{} must be at least 0, or two numbers, not {}", name, n[0]));
    out = {std::max(middle - n[0], middle == 0 ? -n[0] : 0.0), middle + n[0]};
  } else {
    out = range(o, name);
  }
  if (!(out.first >= low && out.second <= high))
    throw Error(fmt::format("{} reaches from {} to {}; it must stay within {}..{}", name, out.first,
                            out.second, low, high));
  if (out.first == middle && out.second == middle) return std::nullopt;
  return out;
}

Tensor channel(const Tensor& v, std::int64_t c) { return slice(v, 1, c, c + 1); }

Tensor gray(const Tensor& v) {
  if (v.dim(1).is(1)) return v;
  return channel(v, 0) * 0.2989 + channel(v, 1) * 0.587 + channel(v, 2) * 0.114;
}

Tensor of_images(const Tensor& t) { return reshape(t, {t.dim(0), 1, 1, 1}); }

/// a · factor + b · (1 - factor), within 0..top.
Tensor blended(const Tensor& a, const Tensor& b, const Tensor& factor, double top) {
  return clamp(a * factor + b * (1.0 - factor), 0.0, top);
}

/// The hue turned by `by` of a circle (f32 [B, 1, 1, 1]), brightness and saturation kept: HSV and back,
/// written as the one formula that each channel has in hue, value and chroma.
Tensor turned(const Tensor& v, const Tensor& by) {
  const Tensor r = channel(v, 0), g = channel(v, 1), b = channel(v, 2);
  const Tensor most = maximum(r, maximum(g, b)), chroma = most - minimum(r, minimum(g, b));
  const Tensor safe = select(chroma == 0.0, scalar(1), chroma);
  const Tensor sixth =
      select(r == most, (g - b) / safe, select(g == most, 2.0 + (b - r) / safe, 4.0 + (r - g) / safe));
  const Tensor hue = sixth + by * 6.0;
  std::vector<Tensor> channels;
  for (const double n : {5.0, 3.0, 1.0}) {
    const Tensor k = remainder(hue + n, scalar(6));
    channels.push_back(most - chroma * clamp(minimum(k, 4.0 - k), 0.0, 1.0));
  }
  return concat(channels, 1);
}

template <class Change>
Pixels changed(const Pixels& p, Change change) {
  Pixels out = p;
  out.at = [=](const Tensor& y, const Tensor& x) { return change(p.at(y, x)); };
  return out;
}

Pixels image(const Options& o, const Pixels& given, Draws& draws) {
  constexpr double kAny = 1e6;
  Pixels p = given;
  const double top = p.top;
  if (p.channels > 1 && p.channels != 3)
    throw Error(fmt::format("takes images of 1 or 3 channels, not {}", p.channels));
  if (const auto f = factors(o, "brightness", 1, 0, kAny)) {
    const Tensor factor = of_images(draws.uniform(f->first, f->second));
    p = changed(p, [=](const Tensor& v) { return clamp(v * factor, 0.0, top); });
  }
  if (const auto f = factors(o, "contrast", 1, 0, kAny)) {
    const Tensor factor = of_images(draws.uniform(f->first, f->second));
    const Tensor middle = mean(gray(p.values()), {1, 2, 3}, true);
    p = changed(p, [=](const Tensor& v) { return blended(v, middle, factor, top); });
  }
  const auto saturation = factors(o, "saturation", 1, 0, kAny), hue = factors(o, "hue", 0, -0.5, 0.5);
  if (saturation && p.channels == 3) {
    const Tensor factor = of_images(draws.uniform(saturation->first, saturation->second));
    p = changed(p, [=](const Tensor& v) { return blended(v, gray(v), factor, top); });
  }
  if (hue && p.channels == 3) {
    const Tensor by = of_images(draws.uniform(hue->first, hue->second));
    p = changed(p, [=](const Tensor& v) { return turned(v, by); });
  }
  return p;
}

}  // namespace

const TransformDef& color_jitter_transform() {
  static const TransformDef def{
      "color_jitter",
      "brightness, contrast, saturation and hue changed by chance, in this order",
      true,
      {{"brightness", OptionType::list, Numbers{0}, "factor 1 - x .. 1 + x, or low and high"},
       {"contrast", OptionType::list, Numbers{0}, "the same"},
       {"saturation", OptionType::list, Numbers{0}, "the same; 3 channels"},
       {"hue", OptionType::list, Numbers{0}, "turn -x .. x, or low and high, within -0.5..0.5; 3 channels"}},
      image};
  return def;
}

}  // namespace tightloop::data::transforms
