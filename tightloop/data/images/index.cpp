// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/images/index.h>

#include <algorithm>
#include <array>

namespace tightloop::data {
namespace {

bool ends_in(std::string_view file, std::string_view suffix) {
  if (file.size() < suffix.size()) return false;
  for (std::size_t i = 0; i < suffix.size(); ++i) {
    const char c = file[file.size() - suffix.size() + i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != suffix[i]) return false;
  }
  return true;
}

}  // namespace

std::span<const ImageFormat> image_formats() {
  static const std::array formats{
#define TIGHTLOOP_IMAGE_FORMAT(name) images::name##_format(),
#include <tightloop/data/images/index.def>
#undef TIGHTLOOP_IMAGE_FORMAT
  };
  return formats;
}

const ImageFormat& image_format(std::span<const std::byte> bytes, const std::string& name) {
  if (bytes.empty()) throw Error(name + ": the file is empty");
  std::string known;
  for (const ImageFormat& f : image_formats()) {
    if (f.begins(bytes)) return f;
    known += (known.empty() ? "" : ", ") + std::string(f.name);
  }
  throw Error(name + ": is no image that is read here: " + known);
}

bool has_image_suffix(std::string_view file) {
  for (const ImageFormat& f : image_formats()) {
    std::string_view rest = f.suffixes;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      if (ends_in(file, rest.substr(0, end))) return true;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return false;
}

}  // namespace tightloop::data
