// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tar shards as WebDataset lays them out: the files of a sample follow each other and have one name up to the
// first dot: 0001.jpg, 0001.cls, 0002.jpg, ...
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::data {

/// Whether the text names tar archives: it ends in .tar, and may hold braces.
bool is_shards(std::string_view path);
/// "shard-{000..009}.tar" and "{train,more}.tar" in full: ranges keep leading zeros, several braces multiply.
/// Throws Error on braces that do not close, and on a range that falls or is longer than a million.
std::vector<std::string> expand_braces(std::string_view pattern);

/// Where the parts of each sample lie. Reads the headers of all archives once.
class Shards {
 public:
  /// `fields`: for each part of a sample the extensions under which it may stand, e.g. {{"jpg", "png"},
  /// {"cls"}}. Throws Error when an archive cannot be read, has no sample, or a sample lacks a part, naming
  /// both.
  Shards(const std::string& pattern, const std::vector<std::vector<std::string>>& fields);

  std::int64_t size() const { return static_cast<std::int64_t>(samples_.size()); }
  /// What the user should know: archives without a mark of their end.
  const std::vector<std::string>& notes() const { return notes_; }
  /// "shard-003.tar/0001"
  std::string name(std::int64_t i) const;
  /// The extension of part `field` of sample `i`.
  const std::string& extension(std::int64_t i, std::size_t field) const;
  /// Reads part `field` of sample `i` into `bytes`, whose memory is used again.
  void read(std::int64_t i, std::size_t field, std::vector<std::byte>& bytes) const;

 private:
  struct Part {
    std::uint64_t offset = 0;
    std::uint32_t size = 0;
    std::uint32_t extension = 0;  ///< in the field's list
  };
  struct Sample {
    std::uint32_t archive = 0;
    std::string key;
  };

  void add_archive(const std::string& path, std::uint32_t number);

  std::vector<std::vector<std::string>> fields_;
  std::vector<std::string> archives_;
  std::vector<std::string> notes_;
  std::vector<Sample> samples_;
  std::vector<Part> parts_;  ///< of sample i: from i × fields on
};

}  // namespace tightloop::data
