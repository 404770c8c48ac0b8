// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tightloop::data {

/// What the first bytes of an image file say.
struct ImageHeader {
  std::int64_t height = 0;  ///< as stored, before the orientation is applied
  std::int64_t width = 0;
  int depth = 8;  ///< bits of a sample once decoded: 8 or 16
  int orientation =
      1;  ///< EXIF tag 0x0112: 1 as stored, 3 upside down, 6 and 8 a quarter turn, 2, 4, 5, 7 mirrored
};

/// A rectangle of pixels.
struct Region {
  std::int64_t top = 0;
  std::int64_t left = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Pixels in memory: [height, width, channels], samples of 8 bits, or of 16 in the machine's order.
struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  int channels = 0;  ///< 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA
  int depth = 8;
  std::vector<std::uint8_t> bytes = {};

  Image() = default;
  /// Zeros.
  Image(std::int64_t height, std::int64_t width, int channels, int depth = 8);
  /// Takes this size; the pixels are not yet written, and the memory is used again.
  void become(std::int64_t height, std::int64_t width, int channels, int depth = 8);
  std::size_t row_bytes() const;
};

/// Images larger than this are refused before anything is allocated for them.
inline constexpr std::int64_t kMostPixels = std::int64_t{1} << 28;

/// Throws Error naming the image when it has no pixels or more than kMostPixels.
void check_pixels(std::int64_t height, std::int64_t width, const std::string& name);

/// The image with 1, 3 or 4 channels. Colour becomes gray as 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601, in
/// the integers of 2^-16 that Pillow takes), gray becomes three equal channels, alpha is dropped, and where
/// it is wanted but missing it is opaque.
Image with_channels(Image image, int channels);

/// The image as it is meant to be seen, by its EXIF orientation 1..8.
Image oriented(Image image, int orientation);
/// Where the pixels lie in the stored image that are seen at `seen` of one of height x width.
Region stored_region(int orientation, const Region& seen, std::int64_t height, std::int64_t width);
/// Whether the orientation swaps height and width.
constexpr bool turns(int orientation) { return orientation >= 5 && orientation <= 8; }

/// The orientation in EXIF data (a TIFF header and its first directory); 1 when there is none or it is
/// damaged.
int exif_orientation(std::span<const std::byte> tiff);

}  // namespace tightloop::data
