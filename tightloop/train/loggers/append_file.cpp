// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/loggers/append_file.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <system_error>

namespace tightloop::train {

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendFile::fail(const char* doing, int code) const {
  throw Error(fmt::format("{}: {}: {}", path_, doing, std::generic_category().message(code)));
}

void AppendFile::open(const std::string& path, std::uint64_t keep) {
  if (descriptor_ >= 0) ::close(descriptor_);
  path_ = path;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("cannot be opened", errno);
  const auto end = ::lseek(descriptor_, 0, SEEK_END);
  if (end < 0) fail("cannot be appended to", errno);
  size_ = static_cast<std::uint64_t>(end);
  cut(std::min(keep, size_));
}

void AppendFile::cut(std::uint64_t size) {
  if (size >= size_) return;
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) fail("cannot be shortened", errno);
  size_ = size;
}

void AppendFile::append(std::string_view bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto n =
        ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(size_ + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int code = errno;
      // A part of a line or record would spoil what lies before it.
      if (::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0)
        fail("cannot be written or shortened", code);
      fail("cannot be written", code);
    }
    done += static_cast<std::size_t>(n);
  }
  size_ += bytes.size();
}

void AppendFile::rewrite_start(std::string_view bytes) {
  require(bytes.size() <= size_, "AppendFile: nothing is there to be written over");
  while (::pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    if (errno != EINTR) fail("cannot be written", errno);
}

}  // namespace tightloop::train
