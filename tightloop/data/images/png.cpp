// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/images/index.h>

#include <png.h>

#include <bit>
#include <cstring>

namespace tightloop::data {
namespace {

/// The library's state for one file. Nothing in its functions with setjmp has a destructor.
class Decoder {
 public:
  Decoder(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, on_error, on_warning);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    if (info_ == nullptr) throw Error(name_ + ": not enough memory for the PNG");
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_pixels() says it with numbers
    png_set_read_fn(png_, this, on_read);
  }
  ~Decoder() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  ImageHeader header() {
    if (!read_info()) fail();
    check_pixels(png_get_image_height(png_, info_), png_get_image_width(png_, info_), name_);
    return {png_get_image_height(png_, info_), png_get_image_width(png_, info_), depth(), orientation_};
  }

  /// header() comes first.
  void pixels(Image& out) {
    if (!expand()) fail();
    out.become(png_get_image_height(png_, info_), png_get_image_width(png_, info_),
               png_get_channels(png_, info_), depth());
    std::vector<png_bytep> rows;
    for (std::int64_t y = 0; y < out.height; ++y)
      rows.push_back(out.bytes.data() + static_cast<std::size_t>(y) * out.row_bytes());
    if (!read(rows.data())) fail();
  }

 private:
  [[noreturn]] void fail() const { throw Error(name_ + ": the PNG is damaged or cut short: " + text_); }
  int depth() const { return png_get_bit_depth(png_, info_) == 16 ? 16 : 8; }

  static void on_error(png_structp png, png_const_charp text) {
    auto* self = static_cast<Decoder*>(png_get_error_ptr(png));
    std::strncpy(self->text_, text, sizeof(self->text_) - 1);
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}
  static void on_read(png_structp png, png_bytep to, std::size_t size) {
    auto* self = static_cast<Decoder*>(png_get_io_ptr(png));
    if (size > self->bytes_.size() - self->at_) png_error(png, "the file ends early");
    std::memcpy(to, self->bytes_.data() + self->at_, size);
    self->at_ += size;
  }

  bool read_info() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_info(png_, info_);
    png_bytep exif = nullptr;
    png_uint_32 size = 0;
    if (png_get_eXIf_1(png_, info_, &size, &exif) != 0)
      orientation_ = exif_orientation({reinterpret_cast<const std::byte*>(exif), size});
    return true;
  }
  /// Palettes become colours, 1, 2 and 4 bits become 8, a transparent colour becomes alpha.
  bool expand() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_expand(png_);
    if (std::endian::native == std::endian::little) png_set_swap(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }
  bool read(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows);
    return true;
  }

  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int orientation_ = 1;
  char text_[200] = "";
};

bool begins(std::span<const std::byte> b) {
  return b.size() >= 4 && std::memcmp(b.data(), "\x89PNG", 4) == 0;
}

ImageHeader header(std::span<const std::byte> bytes, const std::string& name) {
  return Decoder(bytes, name).header();
}

void decode(std::span<const std::byte> bytes, const std::string& name, const Wanted&, Image& out) {
  Decoder decoder(bytes, name);
  decoder.header();
  decoder.pixels(out);
}

}  // namespace

namespace images {

ImageFormat png_format() { return {"PNG", ".png", begins, header, false, decode}; }

}  // namespace images

}  // namespace tightloop::data
