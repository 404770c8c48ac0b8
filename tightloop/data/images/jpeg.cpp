// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/images/index.h>

#include <cstdio>
// jpeglib.h needs <cstdio> before it.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <iterator>
#include <vector>

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

/// The library's state for one file. Nothing in its functions with setjmp has a destructor,
/// and what changes between setjmp and longjmp is not read again.
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

  /// Only blocks that the wanted pixels need become pixels. What lies below them is looked at when the file
  /// seems to be cut short, so that this is said whatever is wanted.
  void pixels(const Wanted& wanted, Image& out) {
    if (!start(wanted.reduce)) fail();
    Region r = wanted.region;
    if (r.height < 1 || r.width < 1) r = {0, 0, info_.output_height, info_.output_width};
    require(r.top >= 0 && r.left >= 0 && r.top + r.height <= info_.output_height &&
                r.left + r.width <= info_.output_width,
            "JPEG: a region outside the image");
    out.become(r.height, r.width, info_.output_components);
    row_.resize(static_cast<std::size_t>(info_.output_width) * static_cast<std::size_t>(out.channels));
    if (!read(r, out) || (!has_end() && !read_to_end())) fail();
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
  /// Rows above the region are only parsed, but for those whose colours reach into it. The library takes
  /// columns by whole blocks.
  bool read(const Region& r, Image& out) {
    if (setjmp(errors_.back) != 0) return false;
    constexpr std::int64_t kReach = 16;  // pixels: of colours that are interpolated, and to spare
    const std::int64_t left = std::max<std::int64_t>(0, r.left - kReach);
    JDIMENSION first = static_cast<JDIMENSION>(left);
    JDIMENSION columns =
        static_cast<JDIMENSION>(std::min<std::int64_t>(info_.output_width, r.left + r.width + kReach) - left);
    if (columns < info_.output_width) jpeg_crop_scanline(&info_, &first, &columns);
    if (r.top > kReach) jpeg_skip_scanlines(&info_, static_cast<JDIMENSION>(r.top - kReach));
    JSAMPROW row = row_.data();
    while (info_.output_scanline < r.top) jpeg_read_scanlines(&info_, &row, 1);
    const std::size_t offset =
        static_cast<std::size_t>(r.left - first) * static_cast<std::size_t>(out.channels);
    for (std::int64_t y = 0; y < r.height; ++y) {
      jpeg_read_scanlines(&info_, &row, 1);
      std::memcpy(out.bytes.data() + static_cast<std::size_t>(y) * out.row_bytes(), row + offset,
                  out.row_bytes());
    }
    return true;
  }
  bool read_to_end() {
    if (setjmp(errors_.back) != 0) return false;
    const JDIMENSION left = info_.output_height - info_.output_scanline;
    if (left > 1) jpeg_skip_scanlines(&info_, left - 1);  // all would be skipped without a look
    JSAMPROW row = row_.data();
    if (left > 0) jpeg_read_scanlines(&info_, &row, 1);
    return true;
  }
  /// Whether the mark of the end is among the last bytes; inside a picture it cannot occur.
  bool has_end() const {
    constexpr std::size_t kTail = 4096;
    const auto* end = bytes_.data() + bytes_.size();
    const auto* tail = end - std::min(kTail, bytes_.size());
    constexpr std::byte kEnd[] = {std::byte{0xff}, std::byte{0xd9}};
    return std::search(tail, end, std::begin(kEnd), std::end(kEnd)) != end;
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  jpeg_decompress_struct info_{};
  Errors errors_{};
  std::vector<std::uint8_t> row_;
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

void decode(std::span<const std::byte> bytes, const std::string& name, const Wanted& wanted, Image& out) {
  Decoder decoder(bytes, name);
  decoder.header();
  decoder.pixels(wanted, out);
  if (out.channels == 4) out = rgb_of_cmyk(out, decoder.is_inverted());
}

}  // namespace

namespace images {

ImageFormat jpeg_format() { return {"JPEG", ".jpg .jpeg", begins, header, true, decode}; }

}  // namespace images

}  // namespace tightloop::data
