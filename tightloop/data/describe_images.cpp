// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/file.h>
#include <tightloop/base/mapped.h>
#include <tightloop/data/describe_images.h>
#include <tightloop/data/images/folder.h>
#include <tightloop/data/images/formats.h>
#include <tightloop/data/tar.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace tightloop::data {
namespace {

int byte_at(std::span<const std::byte> b, std::size_t i) {
  return i < b.size() ? std::to_integer<int>(b[i]) : 0;
}

/// The IHDR chunk, always the first (PNG specification, 11.2.1).
void look_at_png(std::span<const std::byte> b, ImageSummary& out) {
  const int colour = byte_at(b, 25);
  out.bits = byte_at(b, 24);
  out.palette = colour == 3;
  out.channels = colour == 6 ? 4 : colour == 4 ? 2 : colour == 2 ? 3 : 1;
}

/// The frame header: SOF0 to SOF15 but for DHT, JPG and DAC (ITU-T T.81, B.2.2).
void look_at_jpeg(std::span<const std::byte> b, ImageSummary& out) {
  for (std::size_t i = 2; i + 9 < b.size();) {
    const int marker = byte_at(b, i + 1);
    if (byte_at(b, i) != 0xff || marker == 0xff) {
      ++i;
      continue;
    }
    const bool frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame) {
      out.bits = byte_at(b, i + 4);
      out.channels = byte_at(b, i + 9);
      return;
    }
    i += 2 + static_cast<std::size_t>(byte_at(b, i + 2) * 256 + byte_at(b, i + 3));
  }
}

/// The alpha bit of VP8X and of VP8L (WebP container specification).
void look_at_webp(std::span<const std::byte> b, ImageSummary& out) {
  const auto is = [&](const char* chunk) {
    return b.size() > 24 && std::memcmp(b.data() + 12, chunk, 4) == 0;
  };
  const bool alpha =
      (is("VP8X") && (byte_at(b, 20) & 0x10) != 0) || (is("VP8L") && (byte_at(b, 24) & 0x10) != 0);
  out.channels = alpha ? 4 : 3;
}

Counts by_count(const std::map<std::string, std::int64_t>& counted) {
  Counts out(counted.begin(), counted.end());
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return out;
}

std::string size_text(const ImageSummary& s) {
  const bool turned = turns(s.header.orientation);
  return std::to_string(turned ? s.header.height : s.header.width) + " x " +
         std::to_string(turned ? s.header.width : s.header.height) + ", " + std::to_string(s.channels) +
         (s.channels == 1 ? " channel, " : " channels, ") + std::to_string(s.bits) +
         (s.bits == 1 ? " bit" : " bits");
}

void read_headers(const ImageFolder& folder, FolderSummary& out) {
  std::map<std::string, std::int64_t> sizes;
  out.looked_at = std::min(folder.files.size(), kHeadersRead);
  for (std::size_t i = 0; i < out.looked_at; ++i) {
    const std::string& file = folder.files[i * folder.files.size() / out.looked_at];
    try {
      ++sizes[size_text(summary_at(folder.root + "/" + file))];
    } catch (const Error& e) {
      out.damaged.emplace_back(e.what());
    }
  }
  out.sizes = by_count(sizes);
}

/// A member's name up to the first dot of its last part, and what follows the dot.
std::pair<std::string, std::string> parts_of(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t dot = name.find('.', slash == std::string::npos ? 0 : slash + 1);
  return {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)};
}

}  // namespace

ImageSummary summary_of_image(std::span<const std::byte> bytes, const std::string& name) {
  const ImageFormat& format = image_format(bytes, name);
  ImageSummary out{format.name, format.header(bytes, name)};
  if (format.name == "PNG") look_at_png(bytes, out);
  if (format.name == "JPEG") look_at_jpeg(bytes, out);
  if (format.name == "WebP") look_at_webp(bytes, out);
  return out;
}

ImageSummary summary_at(const std::string& path) {
  const Bytes bytes = map_file(path);
  return while_unchanged(bytes, [&] { return summary_of_image(bytes.span(), path); });
}

FolderSummary summary_of_folder(const std::string& root) {
  const ImageFolder folder = list_classes(root);
  FolderSummary out;
  out.images = static_cast<std::int64_t>(folder.files.size());
  out.left_out = folder.left_out;
  for (const auto& name : folder.classes) out.classes.emplace_back(name, 0);
  for (const auto label : folder.labels) ++out.classes[static_cast<std::size_t>(label)].second;
  read_headers(folder, out);
  return out;
}

ShardSummary summary_of_shard(const std::string& path) {
  constexpr std::size_t kFirst = 5;
  const Bytes bytes = map_file(path);
  const auto read = [&](std::span<std::byte> to, std::uint64_t at) {
    if (at > bytes.size() || to.size() > bytes.size() - at) throw Error(path + ": the archive is cut short");
    std::memcpy(to.data(), bytes.data() + at, to.size());
  };
  ShardSummary out;
  std::map<std::string, std::int64_t> extensions;
  std::vector<std::set<std::string>> samples;
  std::string last;
  const TarListing listing = while_unchanged(bytes, [&] { return tar_members(read, bytes.size(), path); });
  out.ended = listing.ended;
  for (const TarMember& m : listing.members) {
    const auto [key, extension] = parts_of(m.name);
    if (samples.empty() || key != last) {
      samples.emplace_back();
      if (out.first.size() < kFirst) out.first.push_back(key);
      last = key;
    }
    samples.back().insert(extension);
    ++extensions[extension];
  }
  out.samples = static_cast<std::int64_t>(samples.size());
  out.extensions = by_count(extensions);
  std::set<std::string> usual;
  for (const auto& [extension, times] : out.extensions)
    if (2 * times > out.samples) usual.insert(extension);
  out.incomplete = std::count_if(samples.begin(), samples.end(), [&](const auto& s) {
    return !std::includes(s.begin(), s.end(), usual.begin(), usual.end());
  });
  return out;
}

}  // namespace tightloop::data
