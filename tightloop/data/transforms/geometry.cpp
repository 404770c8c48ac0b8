// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/geometry.h>
#include <tightloop/ops/functions.h>

#include <cmath>

namespace tightloop::data {
namespace {

Tensor real(const Tensor& t) { return cast(t, DType::f32); }
/// [B] or [] against places [b, h, w].
Tensor over(const Tensor& t) { return t.rank() == 0 ? t : each(t); }

/// Source places of `count` target places along a box from `first` on, `size` long, inside the box.
Tensor places(const Tensor& target, std::int64_t count, const Tensor& first, const Tensor& size,
              bool nearest) {
  const Tensor scale = over(size) / static_cast<double>(count);
  if (nearest) return over(first) + minimum(floor(real(target) * scale), over(size) - 1.0);
  const Tensor inside = maximum((real(target) + 0.5) * scale - 0.5, scalar(0));
  return over(first) + minimum(inside, over(size) - 1.0);
}

Tensor mirrored(const Tensor& place, std::int64_t size) {
  const auto period = static_cast<double>(2 * (size - 1));
  if (size == 1) return place * scalar(0, DType::i64);
  const Tensor folded = remainder(place, scalar(period, DType::i64));
  return minimum(folded, period - folded);
}

struct Axis {
  Tensor place;   ///< inside the image
  Tensor inside;  ///< bool; undefined where all are
};

Axis along(const Tensor& target, const Tensor& first, std::int64_t size, Padding mode) {
  const Tensor place = target + over(first);
  if (mode == Padding::reflect) return {mirrored(place, size), {}};
  Axis out{clamp(place, 0.0, static_cast<double>(size - 1)), {}};
  if (mode == Padding::constant) out.inside = out.place == place;
  return out;
}

}  // namespace

Pixels resized_box(const Pixels& p, const Tensor& top, const Tensor& left, const Tensor& tall,
                   const Tensor& wide, std::int64_t height, std::int64_t width, const std::string& how) {
  const PlaceReader read = interpolation(how);
  const bool nearest = how == "nearest";
  Pixels out = p;
  out.height = height, out.width = width;
  out.at = [=](const Tensor& y, const Tensor& x) {
    return read(p, places(y, height, top, tall, nearest), places(x, width, left, wide, nearest));
  };
  return out;
}

Pixels resized(const Pixels& p, std::int64_t height, std::int64_t width, const std::string& how) {
  const auto size = [](std::int64_t n) { return scalar(static_cast<double>(n)); };
  return resized_box(p, scalar(0), scalar(0), size(p.height), size(p.width), height, width, how);
}

Padding padding_mode(const std::string& name) {
  if (name == "constant") return Padding::constant;
  if (name == "edge") return Padding::edge;
  if (name == "reflect") return Padding::reflect;
  throw Error("padding_mode must be 'constant', 'edge' or 'reflect', not '" + name + "'" +
              suggestion(name, {"constant", "edge", "reflect"}));
}

Pixels cropped(const Pixels& p, const Tensor& top, const Tensor& left, std::int64_t height,
               std::int64_t width, double fill, Padding mode) {
  Pixels out = p;
  out.height = height, out.width = width;
  out.at = [=](const Tensor& y, const Tensor& x) {
    const Axis down = along(y, top, p.height, mode), right = along(x, left, p.width, mode);
    const Tensor value = p.at(down.place, right.place);
    if (!down.inside.defined()) return value;
    return select(all_channels(logical_and(down.inside, right.inside)), value, scalar(fill));
  };
  return out;
}

DrawnBox draw_box(const Pixels& p, std::pair<double, double> scale, std::pair<double, double> ratio,
                  bool strictly, Draws& draws) {
  const double area = static_cast<double>(p.height * p.width);
  const double tallest = static_cast<double>(p.height) - (strictly ? 1 : 0);
  const double widest = static_cast<double>(p.width) - (strictly ? 1 : 0);
  DrawnBox out;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const Tensor target = draws.uniform(scale.first, scale.second) * area;
    const Tensor aspect = exp(draws.uniform(std::log(ratio.first), std::log(ratio.second)));
    const Tensor width = round(sqrt(target * aspect)), height = round(sqrt(target / aspect));
    const Tensor fits = logical_and(logical_and(width >= 1.0, height >= 1.0),
                                    logical_and(width <= widest, height <= tallest));
    if (attempt == 0) {
      out = {height, width, fits};
      continue;
    }
    out.height = select(out.found, out.height, height);
    out.width = select(out.found, out.width, width);
    out.found = logical_or(out.found, fits);
  }
  return out;
}

Pixels erased(const Pixels& p, const Tensor& top, const Tensor& left, const Tensor& height,
              const Tensor& width, const Tensor& applied, double fill) {
  Pixels out = p;
  out.at = [=](const Tensor& y, const Tensor& x) {
    const auto within = [](const Tensor& place, const Tensor& first, const Tensor& size) {
      return logical_and(place >= each(first), place < each(first + size));
    };
    const Tensor hit =
        logical_and(each(applied), logical_and(within(y, top, height), within(x, left, width)));
    return select(all_channels(hit), scalar(fill), p.at(y, x));
  };
  return out;
}

}  // namespace tightloop::data
