// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files as memory. A mapped file that is cut short takes its pages away from under whoever reads them, native
// code included, and the kernel answers with SIGBUS. A handler for the whole process, set when the first file
// is mapped, puts zeros there and marks the file, so that reading goes on and the next check says what
// happened. A SIGBUS anywhere else goes to the handler that was there before.
#include <tightloop/base/error.h>
#include <tightloop/base/file.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace tightloop {

struct Mapping;

/// Maps the first `size` bytes of the open file `descriptor` (private, copy on write), `path` in messages;
/// nothing when it cannot be mapped.
std::optional<Bytes> map_descriptor(int descriptor, std::size_t size, const std::string& path);

/// The mapped files that somebody reads. Those who hold their bytes must outlive it.
class MappedFiles {
 public:
  /// Adds the file that is mapped where `address` lies; nothing when there is none.
  void add(const void* address);
  /// Throws Error naming a file that became shorter, or whose size or time of change is not what it was when
  /// it was mapped. A file that another took the place of (by rename) is unchanged. Costs nanoseconds; size
  /// and time are looked at five times a second, or `at_once`.
  void check(bool at_once = false);

 private:
  std::vector<const Mapping*> files_;
  std::chrono::steady_clock::time_point looked_;
};

/// Throws Error as MappedFiles::check() does, when the bytes are those of a mapped file.
void check_unchanged(const Bytes& bytes);

/// What `read`, which reads `bytes`, gives. When these are a mapped file that changed meanwhile, the Error
/// that names it comes instead of any result or other Error.
template <class Read>
auto while_unchanged(const Bytes& bytes, Read read) {
  try {
    auto result = read();
    check_unchanged(bytes);
    return result;
  } catch (const Error&) {
    check_unchanged(bytes);
    throw;
  }
}

}  // namespace tightloop
