// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tightloop::train {

/// A file that grows while a run goes on. What was written is there for every reader at once, and stays when
/// the process is killed.
class AppendFile {
 public:
  AppendFile() = default;
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// Goes on behind the first `keep` bytes of the file, or of all that there are; makes the file when it is
  /// missing. Throws Error naming the path and the reason; so do the others.
  void open(const std::string& path, std::uint64_t keep);
  bool is_open() const { return descriptor_ >= 0; }
  const std::string& path() const { return path_; }

  /// Takes away what lies behind the first `size` bytes.
  void cut(std::uint64_t size);
  /// All of `bytes` or, when it fails, none.
  void append(std::string_view bytes);
  /// Writes over the first bytes, which must have been written already: for a header that counts what
  /// follows.
  void rewrite_start(std::string_view bytes);

 private:
  [[noreturn]] void fail(const char* doing, int code) const;

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace tightloop::train
