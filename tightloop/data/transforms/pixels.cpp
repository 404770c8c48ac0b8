// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/transforms/pixels.h>
#include <tightloop/ops/functions.h>

namespace tightloop::data {
namespace {

Tensor whole(double n) { return scalar(n, DType::i64); }

/// Pixels in `flat` [elements of all images]; image b begins at first[b].
Pixels stored(const Tensor& flat, const Tensor& first, Pixels like) {
  const std::int64_t plane = like.height * like.width, channels = std::max<std::int64_t>(like.channels, 1);
  like.at = [=, width = like.width](const Tensor& y, const Tensor& x) {
    const Tensor image = reshape(first, {first.dim(0), 1, 1, 1});
    const Tensor channel = iota({1, channels, 1, 1}, 1) * whole(static_cast<double>(plane));
    const Tensor place = unsqueeze(y * whole(static_cast<double>(width)), 1) + unsqueeze(x, 1);
    return cast(gather(flat, image + channel + place), DType::f32);
  };
  return like;
}

}  // namespace

Tensor every_y(std::int64_t count) { return iota({1, count, 1}, 1); }
Tensor every_x(std::int64_t count) { return iota({1, 1, count}, 2); }
Tensor each(const Tensor& of_samples) { return reshape(of_samples, {of_samples.dim(0), 1, 1}); }
Tensor all_channels(const Tensor& of_places) { return unsqueeze(of_places, 1); }

Tensor Pixels::values() const { return at(every_y(height), every_x(width)); }

Pixels Pixels::kept() const {
  const Tensor all = values();
  const std::int64_t size = std::max<std::int64_t>(channels, 1) * height * width;
  return stored(reshape(all, {all.shape().count()}), iota({all.dim(0)}, 0) * whole(static_cast<double>(size)),
                *this);
}

Pixels pixels_of(const Tensor& table, const Tensor& rows) {
  const bool planes = table.rank() == 4;
  Pixels like;
  like.channels = planes ? table.dim(1).factor : 0;
  like.height = table.dim(table.rank() - 2).factor;
  like.width = table.dim(table.rank() - 1).factor;
  like.top = table.dtype() == DType::u8 ? 255 : 1;
  const std::int64_t size = table.shape().count().factor;
  return stored(reshape(table, {table.shape().count()}), rows * whole(static_cast<double>(size)),
                std::move(like));
}

Tensor nearest_at(const Pixels& p, const Tensor& y, const Tensor& x) {
  const auto place = [](const Tensor& t, std::int64_t size) {
    return cast(clamp(floor(t), 0.0, static_cast<double>(size - 1)), DType::i64);
  };
  return p.at(place(y, p.height), place(x, p.width));
}

Tensor bilinear_at(const Pixels& p, const Tensor& y, const Tensor& x) {
  const auto low = [](const Tensor& t, std::int64_t size) {
    return floor(clamp(t, 0.0, static_cast<double>(size - 1)));
  };
  const auto next = [](const Tensor& t, std::int64_t size) {
    return cast(minimum(t + 1.0, scalar(static_cast<double>(size - 1))), DType::i64);
  };
  const Tensor y0 = low(y, p.height), x0 = low(x, p.width);
  const Tensor y1 = next(y0, p.height), x1 = next(x0, p.width);
  const Tensor dy = all_channels(clamp(y - y0, 0.0, 1.0)), dx = all_channels(clamp(x - x0, 0.0, 1.0));
  const Tensor top = cast(y0, DType::i64), left = cast(x0, DType::i64);
  const Tensor upper = p.at(top, left) * (1.0 - dx) + p.at(top, x1) * dx;
  const Tensor lower = p.at(y1, left) * (1.0 - dx) + p.at(y1, x1) * dx;
  return upper * (1.0 - dy) + lower * dy;
}

PlaceReader interpolation(const std::string& how) {
  if (how == "nearest") return nearest_at;
  if (how == "bilinear") return bilinear_at;
  throw Error("interpolation must be 'nearest' or 'bilinear', not '" + how + "'" +
              suggestion(how, {"nearest", "bilinear"}));
}

}  // namespace tightloop::data
