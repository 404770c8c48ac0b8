// SPDX-License-Identifier: Apache-2.0
#pragma once
// Summaries of images, folders of them and tar shards, from headers alone.
#include <tightloop/data/images/image.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::data {

struct ImageSummary {
  std::string_view format;
  ImageHeader header;
  int channels = 0;  ///< as stored: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA or CMYK; a palette counts as 1
  int bits = 8;      ///< of a stored sample
  bool palette = false;
};

/// Throws Error naming `name` for what is no image, damaged in its header, or too large.
ImageSummary summary_of_image(std::span<const std::byte> bytes, const std::string& name);

ImageSummary summary_at(const std::string& path);

/// Texts with the number of times that they came, the most frequent first.
using Counts = std::vector<std::pair<std::string, std::int64_t>>;

inline constexpr std::size_t kHeadersRead = 1000;

struct FolderSummary {
  std::int64_t images = 0;
  Counts classes;                     ///< in the order of their numbers
  std::size_t looked_at = 0;          ///< images whose headers were read: at most kHeadersRead, spread evenly
  Counts sizes;                       ///< of these: "37 x 23, 3 channels, 8 bits" (width first)
  std::vector<std::string> damaged;   ///< of these: what is wrong
  std::vector<std::string> left_out;  ///< stray files
};

/// Throws Error as list_classes() does.
FolderSummary summary_of_folder(const std::string& root);

struct ShardSummary {
  std::int64_t samples = 0;
  Counts extensions;               ///< files of samples by what follows the first dot of their names
  std::int64_t incomplete = 0;     ///< samples without an extension that most have
  std::vector<std::string> first;  ///< names of the first samples
  bool ended = true;               ///< false: the blocks at the end of an archive lack, so it may be cut
};

/// Reads the headers of one archive. Throws Error as tar_members() does.
ShardSummary summary_of_shard(const std::string& path);

}  // namespace tightloop::data
