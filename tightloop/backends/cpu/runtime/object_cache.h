// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::backends::cpu {

/// 32 hexadecimal digits: XXH3 (128 bits) of `text`.
std::string content_key(std::string_view text);

/// Compiled objects on disk, shared by any number of processes. An entry appears whole or not at all; one
/// that is cut short, damaged or for another key is removed and counts as absent. A cache that cannot be used
/// is silently none: neither member throws for what the disk does.
///
/// Objects are code that will run, so a folder that others may write to is not used.
class ObjectCache {
 public:
  static constexpr std::size_t kDefaultBytes = std::size_t{256} << 20;

  /// Entries of `directory` are kept to `max_bytes` in all: over it, those not used for longest are removed
  /// until 80 % remain. Files of other makes are left alone. The directory is made when needed, for this user
  /// only.
  explicit ObjectCache(std::filesystem::path directory = default_directory(),
                       std::size_t max_bytes = kDefaultBytes);

  /// The object stored under `key`; marks it as used now.
  std::optional<std::vector<char>> load(const std::string& key) const;
  void store(const std::string& key, std::span<const char> object) const;

  /// False when nothing can be stored in or loaded from the directory.
  bool usable() const { return usable_; }
  const std::filesystem::path& directory() const { return directory_; }

  /// $XDG_CACHE_HOME/tightloop or ~/.cache/tightloop; where that cannot be made, tightloop-<user id> in the
  /// folder for temporary files.
  static std::filesystem::path default_directory();

 private:
  std::filesystem::path path_of(const std::string& key) const;
  void trim() const;

  std::filesystem::path directory_;
  std::size_t max_bytes_;
  bool usable_;
};

}  // namespace tightloop::backends::cpu
