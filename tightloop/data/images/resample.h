// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/images/image.h>

namespace tightloop::data {

/// A rectangle of an image, in pixels from its upper left corner; edges may lie between pixels.
struct Box {
  double top = 0;
  double left = 0;
  double height = 0;
  double width = 0;
};

/// Part of an image, brought to another size, and a window of the result: that is all that is computed.
struct Framing {
  Box box;                  ///< of the image
  std::int64_t height = 0;  ///< what the box is resized to
  std::int64_t width = 0;
  std::int64_t top = 0;  ///< the window; where it lies outside, zeros
  std::int64_t left = 0;
  std::int64_t window_height = 0;
  std::int64_t window_width = 0;
};

/// Resizes by bilinear interpolation with antialiasing: each result is a sum over the pixels under a triangle
/// that is two result pixels wide, but at least two source pixels; first along rows, then along columns, each
/// rounded. Weights have 22 bits, so that the bytes are those of Pillow's Image.resize(size, BILINEAR, box),
/// which torchvision's Resize uses. A box that keeps its size and lies on pixels is copied.
Image resample(const Image& image, const Framing& framing);

}  // namespace tightloop::data
