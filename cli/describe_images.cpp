// SPDX-License-Identifier: Apache-2.0
#include "command.h"
#include "describe.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tightloop::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kListed = 10;

std::string channels_text(const data::ImageSummary& s) {
  if (s.palette) return "a palette of colours";
  const char* names[] = {"", "gray", "gray and alpha", "RGB", "RGBA"};
  if (s.format == "JPEG" && s.channels == 4) return "CMYK";
  return s.channels >= 1 && s.channels <= 4 ? names[s.channels] : fmt::format("{} channels", s.channels);
}

/// Height and width as it is seen.
std::pair<std::int64_t, std::int64_t> seen(const data::ImageHeader& h) {
  return data::turns(h.orientation) ? std::pair{h.width, h.height} : std::pair{h.height, h.width};
}

std::string counted_text(const data::Counts& counts) {
  std::string out;
  for (std::size_t i = 0; i < counts.size() && i < kListed; ++i)
    out += fmt::format("{}{} ×{}", i ? "; " : "", counts[i].first, counts[i].second);
  return out + (counts.size() > kListed ? fmt::format("; {} more", counts.size() - kListed) : "");
}

std::string list_text(const std::vector<std::string>& all) {
  std::string out;
  for (std::size_t i = 0; i < all.size() && i < kListed; ++i) out += (i ? ", " : "") + all[i];
  return out + (all.size() > kListed ? fmt::format(", and {} more", all.size() - kListed) : "");
}

Json counts_json(const data::Counts& counts) {
  Json out = Json::object();
  for (const auto& [text, times] : counts) out[text] = times;
  return out;
}

}  // namespace

std::string text_of(const data::ImageSummary& s) {
  const auto [height, width] = seen(s.header);
  std::string out = fmt::format("{}, {} wide, {} high, {}, {} bit{} a sample\n", s.format, width, height,
                                channels_text(s), s.bits, s.bits == 1 ? "" : "s");
  if (s.header.orientation != 1)
    out += fmt::format("  stored {} wide, {} high, with EXIF orientation {}\n", s.header.width,
                       s.header.height, s.header.orientation);
  if (s.header.depth == 16)
    return out + fmt::format("  as a sample f32[3, {}, {}], 0 to 1, with data.images.type = \"f32\"\n",
                             height, width);
  return out + fmt::format("  as a sample u8[3, {}, {}]; data.images chooses other channels, size and type\n",
                           height, width);
}

Json json_of(const data::ImageSummary& s) {
  const auto [height, width] = seen(s.header);
  return {{"format", s.format},
          {"width", width},
          {"height", height},
          {"channels", s.channels},
          {"palette", s.palette},
          {"bits", s.bits},
          {"orientation", s.header.orientation}};
}

std::string text_of(const data::FolderSummary& s) {
  std::string out = fmt::format("folder of {} in {}\n", count_text(s.images, "image"),
                                count_text(static_cast<std::int64_t>(s.classes.size()), "class folder"));
  out += fmt::format("  classes: {}\n", counted_text(s.classes));
  out += fmt::format(
      "  sizes{}: {}\n",
      static_cast<std::int64_t>(s.looked_at) < s.images ? fmt::format(" of {} of them", s.looked_at) : "",
      counted_text(s.sizes));
  if (!s.damaged.empty()) out += fmt::format("  damaged: {}\n", list_text(s.damaged));
  if (!s.left_out.empty()) out += fmt::format("  no images, left out: {}\n", list_text(s.left_out));
  return out;
}

Json json_of(const data::FolderSummary& s) {
  return {{"format", "image folder"},      {"images", s.images},       {"classes", counts_json(s.classes)},
          {"sizes", counts_json(s.sizes)}, {"looked_at", s.looked_at}, {"damaged", s.damaged},
          {"left_out", s.left_out}};
}

std::string text_of(const data::ShardSummary& s) {
  std::string out = fmt::format("tar shard, {}\n  files: {}\n", count_text(s.samples, "sample"),
                                counted_text(s.extensions));
  if (s.incomplete > 0)
    out += fmt::format("  {} without a file that most have\n", count_text(s.incomplete, "sample"));
  if (!s.ended) out += "  the blocks at the end of an archive lack: it may be cut short\n";
  return out + fmt::format("  first: {}\n", list_text(s.first));
}

Json json_of(const data::ShardSummary& s) {
  return {{"format", "tar shard"},      {"samples", s.samples}, {"extensions", counts_json(s.extensions)},
          {"incomplete", s.incomplete}, {"ended", s.ended},     {"first", s.first}};
}

}  // namespace tightloop::cli
