// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/images/formats.h>
#include <tightloop/data/images/reader.h>
#include <tightloop/data/images/vector_clones.h>

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

/// RGB, of which most images are.
TIGHTLOOP_VECTOR_CLONES
void write_planes(const std::uint8_t* in, std::int64_t pixels, std::uint8_t* red, std::uint8_t* green,
                  std::uint8_t* blue) {
  for (std::int64_t i = 0; i < pixels; ++i)
    red[i] = in[3 * i], green[i] = in[3 * i + 1], blue[i] = in[3 * i + 2];
}

template <int channels, class From, class To>
void write_planes(const From* in, std::int64_t pixels, To scale, To* out) {
  for (std::int64_t i = 0; i < pixels; ++i, in += channels)
    for (int c = 0; c < channels; ++c) out[c * pixels + i] = static_cast<To>(static_cast<To>(in[c]) / scale);
}

/// [height, width, channels] to [channels, height, width].
template <class From, class To>
void write_planes(const Image& image, To scale, To* out) {
  const From* in = reinterpret_cast<const From*>(image.bytes.data());
  const std::int64_t pixels = image.height * image.width;
  if (image.channels == 1) return write_planes<1>(in, pixels, scale, out);
  if (image.channels == 3) return write_planes<3>(in, pixels, scale, out);
  write_planes<4>(in, pixels, scale, out);
}

/// What a thread uses again for image after image, unless it was unusually large.
struct Scratch {
  Image decoded, result;

  void trim() {
    constexpr std::size_t kKeep = std::size_t{32} << 20;
    if (decoded.bytes.capacity() > kKeep) decoded = Image();
    if (result.bytes.capacity() > kKeep) result = Image();
  }
};

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
    throw Error(name + ": has 16 bits a sample, more than bytes hold; " + options_.advice.depth);
  const Size size = seen_size(header);
  Framing f = frame(options_.steps, size.height, size.width, key, number);
  if (f.window_height != height_ || f.window_width != width_)
    throw Error(name + ": is " + std::to_string(f.window_height) + " high and " +
                std::to_string(f.window_width) + " wide, the first image " + std::to_string(height_) +
                " and " + std::to_string(width_) + "; " + options_.advice.size);
  const auto at_scale = [&](std::int64_t side, int reduce) { return (side + reduce - 1) / reduce; };
  Wanted wanted{format.partial ? reduction(f) : 1};
  const Size whole{at_scale(size.height, wanted.reduce), at_scale(size.width, wanted.reduce)};
  f.box = scaled(f.box, static_cast<double>(whole.height) / static_cast<double>(size.height),
                 static_cast<double>(whole.width) / static_cast<double>(size.width));
  const Resampling resampling(f, whole.height, whole.width);
  Region place{0, 0, whole.height, whole.width};
  if (format.partial && resampling.needed().height > 0) {
    place = resampling.needed();
    wanted.region = stored_region(header.orientation, place, whole.height, whole.width);
  }
  thread_local Scratch scratch;
  format.decode(bytes, name, wanted, scratch.decoded);
  scratch.decoded =
      oriented(with_channels(std::move(scratch.decoded), options_.channels), header.orientation);
  resampling.make(scratch.decoded, place, scratch.result);
  write(scratch.result, out);
  scratch.trim();
}

void ImageReader::write(const Image& image, std::byte* out) const {
  auto* bytes = reinterpret_cast<std::uint8_t*>(out);
  const std::int64_t pixels = image.height * image.width;
  if (options_.dtype == DType::u8 && image.channels == 3)
    write_planes(image.bytes.data(), pixels, bytes, bytes + pixels, bytes + 2 * pixels);
  else if (options_.dtype == DType::u8)
    write_planes<std::uint8_t, std::uint8_t>(image, 1, bytes);
  else if (image.depth == 8)
    write_planes<std::uint8_t, float>(image, 255, reinterpret_cast<float*>(out));
  else
    write_planes<std::uint16_t, float>(image, 65535, reinterpret_cast<float*>(out));
}

}  // namespace tightloop::data
