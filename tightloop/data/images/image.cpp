// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/images/image.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tightloop::data {
namespace {

template <class T>
struct Levels {
  static constexpr T full = static_cast<T>(~T{0});
};

template <class T>
T luma(const T* rgb) {
  return static_cast<T>((std::uint64_t{rgb[0]} * 19595 + std::uint64_t{rgb[1]} * 38470 +
                         std::uint64_t{rgb[2]} * 7471 + 0x8000) >>
                        16);
}

template <class T>
void convert_pixel(const T* from, int have, T* to, int want) {
  const bool colour = have >= 3, alpha = have == 2 || have == 4;
  if (want == 1)
    to[0] = colour ? luma(from) : from[0];
  else
    for (int c = 0; c < 3; ++c) to[c] = colour ? from[c] : from[0];
  if (want == 4) to[3] = alpha ? from[have - 1] : Levels<T>::full;
}

template <class T>
void convert(const Image& from, Image& to) {
  const T* in = reinterpret_cast<const T*>(from.bytes.data());
  T* out = reinterpret_cast<T*>(to.bytes.data());
  for (std::int64_t i = 0; i < from.height * from.width; ++i, in += from.channels, out += to.channels)
    convert_pixel(in, from.channels, out, to.channels);
}

/// Where the pixel at (y, x) of the seen image lies in the stored one.
struct Place {
  std::int64_t y, x;
};
Place stored_place(int orientation, std::int64_t y, std::int64_t x, std::int64_t height, std::int64_t width) {
  const std::int64_t bottom = height - 1, right = width - 1;
  switch (orientation) {
    case 2:
      return {y, right - x};
    case 3:
      return {bottom - y, right - x};
    case 4:
      return {bottom - y, x};
    case 5:
      return {x, y};
    case 6:
      return {bottom - x, y};
    case 7:
      return {bottom - x, right - y};
    case 8:
      return {x, right - y};
    default:
      return {y, x};
  }
}

/// Numbers of a TIFF structure; 0 beyond its end.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes) : bytes_(bytes), little_(at(0) == 'I') {}
  bool valid() const { return (at(0) == 'I' || at(0) == 'M') && at(1) == at(0) && u16(2) == 42; }
  std::uint32_t u16(std::size_t i) const { return little_ ? at(i) | at(i + 1) << 8 : at(i) << 8 | at(i + 1); }
  std::uint32_t u32(std::size_t i) const {
    return little_ ? u16(i) | u16(i + 2) << 16 : u16(i) << 16 | u16(i + 2);
  }

 private:
  std::uint32_t at(std::size_t i) const {
    return i < bytes_.size() ? static_cast<std::uint32_t>(bytes_[i]) : 0;
  }
  std::span<const std::byte> bytes_;
  bool little_;
};

}  // namespace

Image::Image(std::int64_t h, std::int64_t w, int c, int d) { become(h, w, c, d); }

void Image::become(std::int64_t h, std::int64_t w, int c, int d) {
  height = h, width = w, channels = c, depth = d;
  bytes.resize(static_cast<std::size_t>(h) * row_bytes());
}

std::size_t Image::row_bytes() const {
  return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels * depth / 8);
}

void check_pixels(std::int64_t height, std::int64_t width, const std::string& name) {
  if (height > 0 && width > 0 && height <= kMostPixels / width) return;
  throw Error(name + ": the image claims to be " + std::to_string(width) + " wide and " +
              std::to_string(height) + " high; at most " + std::to_string(kMostPixels) + " pixels are read");
}

Image with_channels(Image image, int channels) {
  require(channels == 1 || channels == 3 || channels == 4, "with_channels: 1, 3 or 4");
  if (image.channels == channels) return image;
  Image out(image.height, image.width, channels, image.depth);
  if (image.depth == 8)
    convert<std::uint8_t>(image, out);
  else
    convert<std::uint16_t>(image, out);
  return out;
}

Image oriented(Image image, int orientation) {
  if (orientation < 2 || orientation > 8) return image;
  const bool turned = turns(orientation);
  Image out(turned ? image.width : image.height, turned ? image.height : image.width, image.channels,
            image.depth);
  const auto pixel = static_cast<std::size_t>(image.channels * image.depth / 8);
  std::uint8_t* to = out.bytes.data();
  for (std::int64_t y = 0; y < out.height; ++y)
    for (std::int64_t x = 0; x < out.width; ++x, to += pixel) {
      const Place p = stored_place(orientation, y, x, image.height, image.width);
      std::memcpy(to, image.bytes.data() + static_cast<std::size_t>(p.y * image.width + p.x) * pixel, pixel);
    }
  return out;
}

Region stored_region(int orientation, const Region& seen, std::int64_t height, std::int64_t width) {
  if (seen.height < 1 || seen.width < 1) return seen;
  if (turns(orientation)) std::swap(height, width);
  const Place a = stored_place(orientation, seen.top, seen.left, height, width),
              b = stored_place(orientation, seen.top + seen.height - 1, seen.left + seen.width - 1, height,
                               width);
  return {std::min(a.y, b.y), std::min(a.x, b.x), std::abs(a.y - b.y) + 1, std::abs(a.x - b.x) + 1};
}

int exif_orientation(std::span<const std::byte> bytes) {
  constexpr std::uint32_t kTag = 0x0112;
  const Tiff tiff(bytes);
  if (!tiff.valid()) return 1;
  const std::size_t directory = tiff.u32(4);
  const std::uint32_t entries = tiff.u16(directory);
  for (std::uint32_t e = 0; e < entries; ++e) {
    const std::size_t entry = directory + 2 + std::size_t{12} * e;
    if (entry + 12 > bytes.size()) break;
    if (tiff.u16(entry) != kTag) continue;
    const std::uint32_t value = tiff.u16(entry + 8);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace tightloop::data
