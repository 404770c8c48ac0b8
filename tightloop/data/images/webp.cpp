// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/images/index.h>

#include <webp/decode.h>

#include <cstring>

namespace tightloop::data {
namespace {

const std::uint8_t* data_of(std::span<const std::byte> b) {
  return reinterpret_cast<const std::uint8_t*>(b.data());
}

bool begins(std::span<const std::byte> b) {
  return b.size() >= 12 && std::memcmp(b.data(), "RIFF", 4) == 0 && std::memcmp(b.data() + 8, "WEBP", 4) == 0;
}

std::size_t little32(const std::uint8_t* p) {
  return p[0] | std::size_t{p[1]} << 8 | std::size_t{p[2]} << 16 | std::size_t{p[3]} << 24;
}

/// Of the chunk EXIF: chunks are a name of 4 bytes, a length, and the content, padded to an even length.
int orientation_of(std::span<const std::byte> bytes) {
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::size_t size = little32(data_of(bytes) + at + 4);
    if (size > bytes.size() - at - 8) break;
    auto content = bytes.subspan(at + 8, size);
    if (std::memcmp(bytes.data() + at, "EXIF", 4) == 0) {
      if (content.size() > 6 && std::memcmp(content.data(), "Exif\0", 6) == 0) content = content.subspan(6);
      return exif_orientation(content);
    }
    at += 8 + size + (size & 1);
  }
  return 1;
}

WebPBitstreamFeatures features(std::span<const std::byte> bytes, const std::string& name) {
  WebPBitstreamFeatures out;
  if (WebPGetFeatures(data_of(bytes), bytes.size(), &out) != VP8_STATUS_OK)
    throw Error(name + ": the WebP is damaged or cut short");
  if (out.has_animation != 0) throw Error(name + ": is an animated WebP; save one picture of it");
  check_pixels(out.height, out.width, name);
  return out;
}

ImageHeader header(std::span<const std::byte> bytes, const std::string& name) {
  const WebPBitstreamFeatures f = features(bytes, name);
  return {f.height, f.width, 8, orientation_of(bytes)};
}

void decode(std::span<const std::byte> bytes, const std::string& name, const Wanted&, Image& out) {
  const WebPBitstreamFeatures f = features(bytes, name);
  out.become(f.height, f.width, f.has_alpha != 0 ? 4 : 3);
  const auto into = f.has_alpha != 0 ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (into(data_of(bytes), bytes.size(), out.bytes.data(), out.bytes.size(),
           static_cast<int>(out.row_bytes())) == nullptr)
    throw Error(name + ": the WebP is damaged or cut short");
}

}  // namespace

namespace images {

ImageFormat webp_format() { return {"WebP", ".webp", begins, header, false, decode}; }

}  // namespace images

}  // namespace tightloop::data
