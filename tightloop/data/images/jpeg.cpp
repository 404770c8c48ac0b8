// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/images/index.h>

#include <cstdio>
// jpeglib.h needs <cstdio> before it.
#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>
#include <cstring>

namespace tightloop::data {
namespace {

/// What the library calls when something is wrong: the message is kept, and the call that failed is left by
/// longjmp.
struct Errors {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char text[JMSG_LENGTH_MAX];

  [[noreturn]] static void leave(j_common_ptr info) {
    auto* errors = reinterpret_cast<Errors*>(info->err);
    info->err->format_message(info, errors->text);
    std::longjmp(errors->back, 1);
  }
  /// Missing data is an error; the library would fill up with gray.
  static void warn(j_common_ptr info, int level) {
    const int code = info->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE))
      leave(info);
  }
};

/// The library's state for one file. Nothing in its functions with setjmp has a destructor.
class Decoder {
 public:
  Decoder(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {
    info_.err = jpeg_std_error(&errors_.base);
    errors_.base.error_exit = Errors::leave;
    errors_.base.emit_message = Errors::warn;
    if (!create()) fail();
  }
  ~Decoder() { jpeg_destroy_decompress(&info_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  void header() {
    if (!read_header()) fail();
    check_pixels(info_.image_height, info_.image_width, name_);
  }
  std::int64_t height() const { return info_.image_height; }
  std::int64_t width() const { return info_.image_width; }

  Image pixels(int reduce) {
    if (!start(reduce)) fail();
    Image out(info_.output_height, info_.output_width, info_.output_components);
    if (!read(out.bytes.data(), out.row_bytes())) fail();
    return out;
  }
  bool is_inverted() const { return info_.saw_Adobe_marker != 0; }

 private:
  [[noreturn]] void fail() const {
    throw Error(name_ + ": the JPEG is damaged or cut short: " + errors_.text);
  }

  bool create() {
    if (setjmp(errors_.back) != 0) return false;
    jpeg_create_decompress(&info_);
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes_.data()),
                 static_cast<unsigned long>(bytes_.size()));
    return true;
  }
  bool read_header() {
    if (setjmp(errors_.back) != 0) return false;
    jpeg_read_header(&info_, TRUE);
    return true;
  }
  bool start(int reduce) {
    if (setjmp(errors_.back) != 0) return false;
    info_.scale_num = 1;
    info_.scale_denom = static_cast<unsigned>(reduce);
    info_.out_color_space = info_.num_components == 1   ? JCS_GRAYSCALE
                            : info_.num_components == 4 ? JCS_CMYK
                                                        : JCS_RGB;
    jpeg_start_decompress(&info_);
    return true;
  }
  bool read(std::uint8_t* to, std::size_t row_bytes) {
    if (setjmp(errors_.back) != 0) return false;
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = to + info_.output_scanline * row_bytes;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    return true;
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  jpeg_decompress_struct info_{};
  Errors errors_{};
};

/// Paper shows (1 - C)(1 - K) of the red light, and so on. Adobe's files hold 1 - C in place of C.
Image rgb_of_cmyk(const Image& cmyk, bool inverted) {
  Image out(cmyk.height, cmyk.width, 3);
  const std::uint8_t* in = cmyk.bytes.data();
  std::uint8_t* to = out.bytes.data();
  const unsigned flip = inverted ? 0 : 255;
  for (std::int64_t i = 0; i < cmyk.height * cmyk.width; ++i, in += 4, to += 3)
    for (int c = 0; c < 3; ++c)
      to[c] = static_cast<std::uint8_t>(((in[c] ^ flip) * (in[3] ^ flip) + 127) / 255);
  return out;
}

unsigned u16(std::span<const std::byte> b, std::size_t i) {
  return static_cast<unsigned>(b[i]) << 8 | static_cast<unsigned>(b[i + 1]);
}

/// Of the APP1 segment that begins with "Exif"; segments come before the first scan.
int orientation_of(std::span<const std::byte> bytes) {
  constexpr unsigned kApp1 = 0xffe1, kScan = 0xffda;
  for (std::size_t at = 2; at + 4 <= bytes.size();) {
    const unsigned marker = u16(bytes, at), length = u16(bytes, at + 2);
    if (marker < 0xff00 || marker == kScan || length < 2 || at + 2 + length > bytes.size()) break;
    const auto segment = bytes.subspan(at + 4, length - 2);
    if (marker == kApp1 && segment.size() > 6 && std::memcmp(segment.data(), "Exif\0", 6) == 0)
      return exif_orientation(segment.subspan(6));
    at += 2 + length;
  }
  return 1;
}

bool begins(std::span<const std::byte> b) {
  return b.size() >= 3 && std::memcmp(b.data(), "\xff\xd8\xff", 3) == 0;
}

ImageHeader header(std::span<const std::byte> bytes, const std::string& name) {
  Decoder decoder(bytes, name);
  decoder.header();
  return {decoder.height(), decoder.width(), 8, orientation_of(bytes)};
}

Image decode(std::span<const std::byte> bytes, const std::string& name, int reduce) {
  Decoder decoder(bytes, name);
  decoder.header();
  Image out = decoder.pixels(reduce);
  return out.channels == 4 ? rgb_of_cmyk(out, decoder.is_inverted()) : out;
}

}  // namespace

namespace images {

ImageFormat jpeg_format() { return {"JPEG", ".jpg .jpeg", begins, header, decode}; }

}  // namespace images

}  // namespace tightloop::data
