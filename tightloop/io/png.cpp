// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/png.h>

#include <fmt/format.h>
#include <zlib.h>

namespace tightloop::io {
namespace {

std::string big_endian(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

std::string chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const auto crc = ::crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(static_cast<std::uint32_t>(data.size())) + body +
         big_endian(static_cast<std::uint32_t>(crc));
}

std::string deflated(const std::string& raw) {
  uLongf size = ::compressBound(raw.size());
  std::string out(size, '\0');
  require(::compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(raw.data()),
                     raw.size()) == Z_OK,
          "encode_png: zlib");
  out.resize(size);
  return out;
}

}  // namespace

std::string encode_png(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width,
                       std::int64_t channels) {
  const bool known = channels == 1 || channels == 3 || channels == 4;
  constexpr std::int64_t most = 1 << 20;
  if (!known || height < 1 || width < 1 || height > most || width > most ||
      static_cast<std::int64_t>(pixels.size()) != height * width * channels)
    throw Error(fmt::format("a PNG of {} x {} pixels with {} channels cannot be made of {} bytes", width,
                            height, channels, pixels.size()));
  const auto row = static_cast<std::size_t>(width * channels);
  std::string raw;
  for (std::size_t at = 0; at < pixels.size(); at += row) {
    raw += '\0';  // no filter
    raw.append(reinterpret_cast<const char*>(pixels.data()) + at, row);
  }
  const char colour = channels == 1 ? 0 : channels == 3 ? 2 : 6;
  std::string header = big_endian(static_cast<std::uint32_t>(width)) +
                       big_endian(static_cast<std::uint32_t>(height)) + char{8} + colour;
  header.append(3, '\0');
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", deflated(raw)) + chunk("IEND", "");
}

}  // namespace tightloop::io
