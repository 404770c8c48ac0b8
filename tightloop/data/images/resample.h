// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/images/image.h>

#include <vector>

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
  bool cut_out = false;  ///< the pixels around the box count for nothing, as if it had been cut out first
};

/// Resizes by bilinear interpolation with antialiasing: each result is a sum over the pixels under a triangle
/// that is two result pixels wide, but at least two source pixels; first along rows, then along columns, each
/// rounded. Weights have 22 bits, so that the bytes are those of Pillow's Image.resize(size, BILINEAR, box),
/// which torchvision's Resize uses. A box that keeps its size and lies on pixels is copied.
class Resampling {
 public:
  /// Of images of height x width.
  Resampling(const Framing& framing, std::int64_t height, std::int64_t width);

  /// The pixels that are read; without rows when the window shows none.
  const Region& needed() const { return needed_; }
  /// Makes the window, in `out`, from an image's pixels of `place`, which holds needed(). The memory of `out`
  /// is used again.
  void make(const Image& part, const Region& place, Image& out) const;

 private:
  /// The weights of one result: source pixels first .. first + count.
  struct Taps {
    std::int64_t first = 0;
    std::int64_t count = 0;
    std::size_t weights = 0;  ///< where they begin in the list
  };
  /// What results along one axis are made of.
  struct Axis {
    std::vector<Taps> taps;
    std::vector<std::int32_t> weights;
  };
  /// Results first .. first + count of `size` along [start, start + length], of which pixels from `begin` to
  /// `end` are there.
  static Axis weigh(std::int64_t begin, std::int64_t end, double start, double length, std::int64_t size,
                    std::int64_t first, std::int64_t count);
  template <class T>
  void copy(const Image& part, const Region& place, Image& out) const;
  template <class T>
  void resize(const Image& part, const Region& place, Image& out) const;

  Framing framing_;
  Region shown_;  ///< of what the box is resized to: where the window is over it
  Region needed_;
  bool copies_ = false;
  Axis rows_, columns_;
};

/// The window of a whole image.
Image resample(const Image& image, const Framing& framing);

}  // namespace tightloop::data
