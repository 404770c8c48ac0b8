// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/images/formats.h>
#include <tightloop/data/images/reader.h>

#include <algorithm>

namespace tightloop::data {
namespace {

struct Size {
  std::int64_t height, width;
};

Size seen_size(const ImageHeader& h) {
  return turns(h.orientation) ? Size{h.width, h.height} : Size{h.height, h.width};
}

/// The fraction of the size that still leaves two pixels for each result.
int reduction(const Framing& f) {
  const double spare =
      std::min(f.box.height / static_cast<double>(f.height), f.box.width / static_cast<double>(f.width));
  return spare >= 16 ? 8 : spare >= 8 ? 4 : spare >= 4 ? 2 : 1;
}

/// The box in an image that was decoded smaller.
Box scaled(const Box& b, double vertical, double horizontal) {
  return {b.top * vertical, b.left * horizontal, b.height * vertical, b.width * horizontal};
}

/// [height, width, channels] to [channels, height, width].
template <class From, class To>
void write_planes(const Image& image, To scale, To* out) {
  const From* in = reinterpret_cast<const From*>(image.bytes.data());
  const std::int64_t pixels = image.height * image.width;
  for (std::int64_t i = 0; i < pixels; ++i)
    for (std::int64_t c = 0; c < image.channels; ++c)
      out[c * pixels + i] = static_cast<To>(static_cast<To>(*in++) / scale);
}

}  // namespace

ImageReader::ImageReader(ImageOptions options, std::span<const std::byte> first, const std::string& name)
    : options_(std::move(options)) {
  if (const auto fixed = fixed_size(options_.steps)) {
    height_ = fixed->first, width_ = fixed->second;
    return;
  }
  const Size size = seen_size(image_format(first, name).header(first, name));
  const Framing f = frame(options_.steps, size.height, size.width, {}, 0);
  height_ = f.window_height, width_ = f.window_width;
}

void ImageReader::read(std::span<const std::byte> bytes, const std::string& name, const SampleKey& key,
                       std::int64_t number, std::byte* out) const {
  const ImageFormat& format = image_format(bytes, name);
  const ImageHeader header = format.header(bytes, name);
  if (header.depth == 16 && options_.dtype == DType::u8)
    throw Error(name + ": has 16 bits a sample, more than bytes hold; set data.images.type = \"f32\"");
  const Size size = seen_size(header);
  Framing f = frame(options_.steps, size.height, size.width, key, number);
  if (f.window_height != height_ || f.window_width != width_)
    throw Error(name + ": is " + std::to_string(f.window_height) + " high and " +
                std::to_string(f.window_width) + " wide, the first image " + std::to_string(height_) +
                " and " + std::to_string(width_) +
                "; set data.images.size, or begin data.transforms with a resize or a crop");
  Image image = oriented(with_channels(format.decode(bytes, name, reduction(f)), options_.channels),
                         header.orientation);
  f.box = scaled(f.box, static_cast<double>(image.height) / static_cast<double>(size.height),
                 static_cast<double>(image.width) / static_cast<double>(size.width));
  image = resample(image, f);
  if (options_.dtype == DType::u8)
    write_planes<std::uint8_t, std::uint8_t>(image, 1, reinterpret_cast<std::uint8_t*>(out));
  else if (image.depth == 8)
    write_planes<std::uint8_t, float>(image, 255, reinterpret_cast<float*>(out));
  else
    write_planes<std::uint16_t, float>(image, 65535, reinterpret_cast<float*>(out));
}

}  // namespace tightloop::data
