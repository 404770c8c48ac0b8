// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tightloop {

/// Bytes in memory that copies share and an owner (a mapping or a buffer) keeps alive.
/// Writing to them never reaches the file they came from.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::byte* data, std::size_t size, std::shared_ptr<const void> owner)
      : data_(data), size_(size), owner_(std::move(owner)) {}
  static Bytes copy_of(std::span<const std::byte> bytes);
  static Bytes copy_of(std::string_view text) { return copy_of(std::as_bytes(std::span(text))); }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::span<const std::byte> span() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  /// The bytes from `offset` (at most size()) on.
  Bytes from(std::size_t offset) const { return {data_ + offset, size_ - offset, owner_}; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<const void> owner_;
};

/// Maps the file at `path` (private, copy on write), or reads it where mapping is not possible
/// (pipes, /proc). Replacing the file by rename leaves the bytes as they were. What is cut off it in place
/// while it is mapped reads as zeros, and check_unchanged() (base/mapped.h) says so.
/// Throws Error when the file is missing, is a directory, or cannot be read.
Bytes map_file(const std::string& path);

/// map_file(), and when the content is gzip (told by its first bytes, not by the name), inflated.
Bytes read_file(const std::string& path);

/// True when `bytes` begin as a gzip member does (RFC 1952).
bool is_gzip(std::span<const std::byte> bytes);

/// Inflates all members of `bytes` (RFC 1952); zero padding after the last is allowed. Throws Error
/// naming `name` when the data is cut short, corrupt, or inflates to more than `limit` bytes
/// (0: the memory of this machine).
Bytes gunzip(std::span<const std::byte> bytes, const std::string& name, std::size_t limit = 0);

/// A file that appears whole or not at all: bytes go to a temporary file beside `path`, which
/// commit() flushes to the disk and renames over `path`. A symbolic link is followed; a device or
/// pipe is written directly. Each member throws Error naming the path and the reason.
class AtomicFile {
 public:
  /// `sync` false leaves out the flush to the disk: enough for files that can be made again.
  explicit AtomicFile(std::string path, bool sync = true);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  /// Removes the temporary file unless commit() succeeded.
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Writes over the first bytes, which must have been written already: for a header that counts what
  /// follows.
  void rewrite_start(std::string_view text);
  void commit();

 private:
  [[noreturn]] void fail(const char* doing, int code);
  void discard();

  std::string path_;
  std::string temporary_;  // empty when writing directly
  int descriptor_ = -1;
  bool sync_ = true;
  std::uint64_t written_ = 0;
};

/// Writes `text` to `path` by AtomicFile.
void write_file(const std::string& path, std::string_view text, bool sync = true);

}  // namespace tightloop
