// SPDX-License-Identifier: Apache-2.0
#pragma once
// The images of a batch as a function of the place. A crop, a flip or a rotation changes the places that are
// read, so a list of them reads each pixel once, where the data lies, and stores nothing in between.
#include <tightloop/ir/tensor.h>

#include <cstdint>
#include <functional>
#include <string>

namespace tightloop::data {

struct Pixels {
  std::int64_t channels = 0;  ///< 0: images [H, W] that have no dim of channels
  std::int64_t height = 0;
  std::int64_t width = 0;
  double top = 1;  ///< the largest value that a pixel has: 255 for u8
  /// y and x: i64 [b, h, w], of which each dim may be 1, inside the image; gives f32 [B, C, h, w].
  std::function<Tensor(const Tensor& y, const Tensor& x)> at;

  /// All of them: [B, C, height, width], C at least 1.
  Tensor values() const;
  /// The same images, computed once and kept: for what reads each pixel more than once.
  Pixels kept() const;
};

/// The images that rows (i64[B]) of `table` [N, H, W] or [N, C, H, W] are.
Pixels pixels_of(const Tensor& table, const Tensor& rows);
/// 0 .. count - 1 as [1, count, 1] and [1, 1, count].
Tensor every_y(std::int64_t count);
Tensor every_x(std::int64_t count);
/// [B] as [B, 1, 1].
Tensor each(const Tensor& of_samples);
/// f32 [b, h, w] as [b, 1, h, w], for all channels.
Tensor all_channels(const Tensor& of_places);

/// Images of another size with pixels from places y, x (f32, clamped into the image) of `p`.
Tensor nearest_at(const Pixels& p, const Tensor& y, const Tensor& x);
Tensor bilinear_at(const Pixels& p, const Tensor& y, const Tensor& x);
/// `how`: nearest or bilinear. Throws Error on another.
using PlaceReader = Tensor (*)(const Pixels&, const Tensor& y, const Tensor& x);
PlaceReader interpolation(const std::string& how);

}  // namespace tightloop::data
