// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/file.h>
#include <tightloop/base/mapped.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace tightloop {
namespace {

std::string reason(int code) { return std::generic_category().message(code); }

[[noreturn]] void cannot(const char* doing, const std::string& path, const std::string& why) {
  throw Error(std::string("cannot ") + doing + " '" + path + "': " + why);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int number() const { return fd_; }

 private:
  int fd_;
};

int open_retrying(const std::string& path, int flags, mode_t mode = 0) {
  int fd = -1;
  do fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (fd < 0 && errno == EINTR);
  return fd;
}

std::size_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page <= 0) return std::size_t{1} << 36;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
}

/// A malloc'd buffer that grows by doubling up to a limit.
class GrowingBuffer {
 public:
  GrowingBuffer(std::string name, std::size_t limit) : name_(std::move(name)), limit_(limit) {}
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;
  ~GrowingBuffer() { std::free(data_); }

  /// Free space of at least one byte behind size().
  std::span<std::byte> room(std::size_t wish) {
    if (size_ == capacity_) grow(std::max(wish, capacity_));
    return {data_ + size_, capacity_ - size_};
  }
  void add(std::size_t n) { size_ += n; }
  Bytes take() {
    auto* data = static_cast<std::byte*>(std::realloc(data_, std::max<std::size_t>(size_, 1)));
    if (data == nullptr) data = data_;
    data_ = nullptr;
    return {data, size_,
            std::shared_ptr<const void>(data, [](const void* p) { std::free(const_cast<void*>(p)); })};
  }

 private:
  void grow(std::size_t by) {
    if (capacity_ >= limit_)
      cannot("read", name_, "it holds more than " + std::to_string(limit_) + " bytes, the limit here");
    const std::size_t wanted = capacity_ + std::min(by, limit_ - capacity_);
    void* data = std::realloc(data_, wanted);
    if (data == nullptr) cannot("read", name_, "no memory for " + std::to_string(wanted) + " bytes");
    data_ = static_cast<std::byte*>(data);
    capacity_ = wanted;
  }

  std::string name_;
  std::size_t limit_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

Bytes read_through(int fd, const std::string& path) {
  GrowingBuffer buffer(path, machine_memory());
  for (;;) {
    const auto room = buffer.room(std::size_t{1} << 16);
    const ssize_t n = ::read(fd, room.data(), room.size());
    if (n == 0) return buffer.take();
    if (n > 0)
      buffer.add(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      cannot("read", path, reason(errno));
  }
}

class Inflater {
 public:
  explicit Inflater(const std::string& name) {
    if (inflateInit2(&stream_, 15 + 16) != Z_OK) cannot("inflate", name, "no memory");
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
};

constexpr std::size_t kMaxStep = std::size_t{1} << 30;  // zlib counts in 32 bits
constexpr std::size_t kInputStep = std::size_t{1} << 20;

/// Gives the pages of a mapped file back as they have been read, so that they do not stand beside what they
/// inflate to.
class ReadPages {
 public:
  explicit ReadPages(std::byte* mapped) : from_(mapped) {}
  void up_to(const std::byte* end) {
    if (from_ == nullptr) return;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGE_SIZE));
    const std::size_t bytes = static_cast<std::size_t>(end - from_) / page * page;
    if (bytes != 0) ::madvise(from_, bytes, MADV_DONTNEED);
    from_ += bytes;
  }

 private:
  std::byte* from_;  ///< null: not mapped, nothing to give back
};

bool only_zeros(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// Inflates one member from the front of `bytes`; returns how many bytes it took.
std::size_t inflate_member(std::span<const std::byte> bytes, const std::string& name, GrowingBuffer& out,
                           ReadPages& pages) {
  Inflater inflater(name);
  z_stream& z = inflater.stream();
  std::size_t used = 0;
  for (;;) {
    const std::size_t given = std::min(bytes.size() - used, kInputStep);
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data() + used));
    z.avail_in = static_cast<uInt>(given);
    const auto room = out.room(std::clamp<std::size_t>(4 * bytes.size(), 4096, kMaxStep));
    const std::size_t space = std::min(room.size(), kMaxStep);
    z.next_out = reinterpret_cast<Bytef*>(room.data());
    z.avail_out = static_cast<uInt>(space);
    const int code = inflate(&z, Z_NO_FLUSH);
    used += given - z.avail_in;
    pages.up_to(bytes.data() + used);
    out.add(space - z.avail_out);
    if (code == Z_STREAM_END) return used;
    if (code == Z_MEM_ERROR) cannot("inflate", name, "no memory");
    if (code != Z_OK && code != Z_BUF_ERROR)
      cannot("inflate", name,
             std::string("the gzip data is corrupt") + (z.msg ? std::string(": ") + z.msg : ""));
    if (used == bytes.size() && z.avail_out != 0) cannot("inflate", name, "the gzip data is cut short");
  }
}

Bytes inflate_all(std::span<const std::byte> bytes, const std::string& name, std::size_t limit,
                  ReadPages pages) {
  GrowingBuffer out(name, limit == 0 ? machine_memory() : limit);
  do {
    if (!is_gzip(bytes)) cannot("inflate", name, "what follows the gzip data is not gzip");
    bytes = bytes.subspan(inflate_member(bytes, name, out, pages));
  } while (!only_zeros(bytes));
  return out.take();
}

void write_all(int fd, std::span<const std::byte> bytes, int& code) {
  code = 0;
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), std::min(bytes.size(), kMaxStep));
    if (n > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      code = n == 0 ? ENOSPC : errno;
      return;
    }
  }
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

std::string resolve_link(const std::string& path) {
  struct stat link {};
  if (::lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return path;
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string out = real;
  std::free(real);
  return out;
}

void check_path(const char* doing, const std::string& path) {
  if (path.empty()) throw Error(std::string("cannot ") + doing + " a file: the path is empty");
  if (path.find('\0') != std::string::npos) cannot(doing, path.c_str(), "the path contains a NUL byte");
}

}  // namespace

Bytes Bytes::copy_of(std::span<const std::byte> bytes) {
  std::shared_ptr<std::byte[]> copy(new std::byte[std::max<std::size_t>(bytes.size(), 1)]);
  if (!bytes.empty()) std::memcpy(copy.get(), bytes.data(), bytes.size());
  std::byte* data = copy.get();
  return {data, bytes.size(), std::move(copy)};
}

namespace {

struct Contents {
  Bytes bytes;
  bool mapped = false;
};

Contents contents_of(const std::string& path) {
  check_path("read", path);
  const Descriptor file(open_retrying(path, O_RDONLY));
  if (file.number() < 0) cannot("read", path, reason(errno));
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) cannot("read", path, reason(errno));
  if (S_ISDIR(status.st_mode)) cannot("read", path, "it is a directory");
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return {read_through(file.number(), path)};
  const auto size = static_cast<std::size_t>(status.st_size);
  auto bytes = map_descriptor(file.number(), size, path);
  if (!bytes) return {read_through(file.number(), path)};
  return {std::move(*bytes), true};
}

}  // namespace

Bytes map_file(const std::string& path) { return contents_of(path).bytes; }

Bytes read_file(const std::string& path) {
  Contents file = contents_of(path);
  if (!is_gzip(file.bytes.span())) return std::move(file.bytes);
  return while_unchanged(file.bytes, [&] {
    return inflate_all(file.bytes.span(), path, 0, ReadPages(file.mapped ? file.bytes.data() : nullptr));
  });
}

bool is_gzip(std::span<const std::byte> bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b} &&
         bytes[2] == std::byte{8};
}

Bytes gunzip(std::span<const std::byte> bytes, const std::string& name, std::size_t limit) {
  return inflate_all(bytes, name, limit, ReadPages(nullptr));
}

AtomicFile::AtomicFile(std::string path, bool sync) : sync_(sync) {
  check_path("write", path);
  path_ = resolve_link(path);
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) cannot("write", path_, "it is a directory");
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail("write", errno);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open_retrying(path_, O_WRONLY);
    if (descriptor_ < 0) fail("write", errno);
    return;
  }
  int code = EEXIST;
  for (int i = 0; descriptor_ < 0 && code == EEXIST && i < 1000; ++i) {
    temporary_ = path_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(i);
    descriptor_ = open_retrying(temporary_, O_WRONLY | O_CREAT | O_EXCL, 0666);
    code = errno;
  }
  if (descriptor_ < 0) {
    temporary_.clear();
    fail("write", code);
  }
  if (exists && ::fchmod(descriptor_, status.st_mode & 07777) != 0) fail("write", errno);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  descriptor_ = -1;
  temporary_.clear();
}

void AtomicFile::fail(const char* doing, int code) {
  discard();
  if (code == ENOENT) cannot(doing, path_, "the directory '" + directory_of(path_) + "' does not exist");
  cannot(doing, path_, reason(code));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  require(descriptor_ >= 0, "AtomicFile::write after commit or failure");
  int code = 0;
  write_all(descriptor_, bytes, code);
  if (code != 0) fail("write", code);
  written_ += bytes.size();
}

void AtomicFile::rewrite_start(std::string_view text) {
  require(descriptor_ >= 0 && text.size() <= written_, "AtomicFile::rewrite_start of what was not written");
  if (::lseek(descriptor_, 0, SEEK_SET) != 0) fail("write", errno);
  int code = 0;
  write_all(descriptor_, std::as_bytes(std::span(text)), code);
  if (code != 0) fail("write", code);
  if (::lseek(descriptor_, 0, SEEK_END) < 0) fail("write", errno);
}

void AtomicFile::commit() {
  require(descriptor_ >= 0, "AtomicFile::commit after commit or failure");
  if (sync_ && !temporary_.empty() && ::fsync(descriptor_) != 0) fail("write", errno);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 && errno != EINTR) fail("write", errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("replace", errno);
  temporary_.clear();
  if (!sync_) return;
  const Descriptor directory(open_retrying(directory_of(path_), O_RDONLY | O_DIRECTORY));
  if (directory.number() >= 0) ::fsync(directory.number());
}

void write_file(const std::string& path, std::string_view text, bool sync) {
  AtomicFile file(path, sync);
  file.write(text);
  file.commit();
}

}  // namespace tightloop
