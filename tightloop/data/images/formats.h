// SPDX-License-Identifier: Apache-2.0
#pragma once
// Image files: one source a format, listed by index.def.
#include <tightloop/data/images/image.h>

#include <span>
#include <string>
#include <string_view>

namespace tightloop::data {

/// What of an image is decoded.
struct Wanted {
  int reduce = 1;      ///< 2, 4 or 8: the image at that fraction of its size, rounded up
  Region region = {};  ///< its pixels there, before the orientation is applied; without rows: all
};

/// A format of image files: one line of the index.
struct ImageFormat {
  std::string_view name;
  std::string_view suffixes;  ///< ".jpg .jpeg", lower case
  bool (*begins)(std::span<const std::byte> bytes);
  /// This and decode() throw Error naming `name` for what is damaged, cut short or too large.
  ImageHeader (*header)(std::span<const std::byte> bytes, const std::string& name);
  /// Whether decode() does what is wanted; without it `out` is the whole image at its size.
  bool partial;
  /// The pixels as stored, into `out`, whose memory is used again.
  void (*decode)(std::span<const std::byte> bytes, const std::string& name, const Wanted& wanted, Image& out);
};

std::span<const ImageFormat> image_formats();

/// The format of the content. Throws Error naming `name` when it is none of them.
const ImageFormat& image_format(std::span<const std::byte> bytes, const std::string& name);
/// Whether a file name ends as those of images do, in upper or lower case.
bool has_image_suffix(std::string_view file);

}  // namespace tightloop::data
