// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/data/images/geometry.h>

#include <cstddef>
#include <span>
#include <string>

namespace tightloop::data {

/// What messages tell the user to do.
struct ImageAdvice {
  std::string size = "set data.images.size, or begin data.transforms with a resize or a crop";
  std::string depth = "set data.images.type = \"f32\"";
};

/// What images become.
struct ImageOptions {
  int channels = 3;  ///< 1, 3 or 4, see with_channels()
  /// u8: 0 .. 255 as stored; a 16-bit image is refused. f32: 0 .. 1, which is value / 255 or value / 65535.
  DType dtype = DType::u8;
  Geometries steps = {};  ///< none: all images must have one size
  ImageAdvice advice = {};
};

/// Turns image files into samples of one size, [channels, height, width].
class ImageReader {
 public:
  /// `first` is the content of an image that shows the size, when the options do not fix it, and `name` its
  /// name. Throws Error when it cannot be read.
  ImageReader(ImageOptions options, std::span<const std::byte> first, const std::string& name);

  const ImageOptions& options() const { return options_; }
  std::vector<std::int64_t> dims() const { return {options_.channels, height_, width_}; }
  /// Writes the image of sample `number` to `out`. Of a JPEG only the blocks that are needed are decoded, and
  /// one at least four times as large as wanted at a half, a quarter or an eighth of its size. Throws Error
  /// naming `name`.
  void read(std::span<const std::byte> bytes, const std::string& name, const SampleKey& key,
            std::int64_t number, std::byte* out) const;

 private:
  void write(const Image& image, std::byte* out) const;

  ImageOptions options_;
  std::int64_t height_ = 0;
  std::int64_t width_ = 0;
};

}  // namespace tightloop::data
