// SPDX-License-Identifier: Apache-2.0
#pragma once
// What transforms share that change where pixels come from.
#include <tightloop/data/transforms/transform.h>

namespace tightloop::data {

/// The box of each image that begins at row `top`, column `left` and has `tall` rows and `wide` columns (f32,
/// [B] or []), as an image of height x width. Places follow align_corners = false, without antialiasing.
Pixels resized_box(const Pixels& p, const Tensor& top, const Tensor& left, const Tensor& tall,
                   const Tensor& wide, std::int64_t height, std::int64_t width,
                   const std::string& interpolation);
/// The same of whole images.
Pixels resized(const Pixels& p, std::int64_t height, std::int64_t width, const std::string& interpolation);

/// What stands outside an image.
enum class Padding : std::uint8_t { constant, edge, reflect };
Padding padding_mode(const std::string& name);
/// height x width pixels of each image from row `top` and column `left` on (i64, [B] or []); places outside
/// the image are `fill`, the nearest pixel, or mirrored at the edge pixel.
Pixels cropped(const Pixels& p, const Tensor& top, const Tensor& left, std::int64_t height,
               std::int64_t width, double fill = 0, Padding mode = Padding::constant);

/// A box with a share of the image's area and a ratio of width to height, uniform in `scale` and log-uniform
/// in `ratio`; f32[B]. The first of ten draws that fits (below the image's size when `strictly`); `found`
/// says whether there was one.
struct DrawnBox {
  Tensor height, width;  ///< whole numbers
  Tensor found;          ///< bool[B]
};
DrawnBox draw_box(const Pixels& p, std::pair<double, double> scale, std::pair<double, double> ratio,
                  bool strictly, Draws& draws);
/// `p` with `fill` in the boxes from (top, left) on (i64[B]) where `applied` (bool[B]).
Pixels erased(const Pixels& p, const Tensor& top, const Tensor& left, const Tensor& height,
              const Tensor& width, const Tensor& applied, double fill);

}  // namespace tightloop::data
