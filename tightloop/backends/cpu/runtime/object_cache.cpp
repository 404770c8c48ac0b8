// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/object_cache.h>
#include <tightloop/base/error.h>
#include <tightloop/base/file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace tightloop::backends::cpu {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".object";
constexpr std::string_view kTemporary = ".object.tmp-";  // as AtomicFile names them
constexpr std::size_t kKeyDigits = 32;
constexpr auto kStaleAfter = std::chrono::minutes(10);

/// What an entry begins with; the key and the object follow. All of it is checked on loading.
struct Header {
  char magic[8] = {'t', 'l', 'o', 'b', 'j', 'e', 'c', 't'};
  std::uint64_t version = 1;
  std::uint64_t key_size = 0;
  std::uint64_t object_size = 0;
  std::uint64_t hash_low = 0;  // XXH3 (128 bits) of key and object
  std::uint64_t hash_high = 0;
};

Header header_of(const std::string& key, std::span<const char> body) {
  const auto hash = XXH3_128bits(body.data(), body.size());
  Header header;
  header.key_size = key.size();
  header.object_size = body.size() - key.size();
  header.hash_low = hash.low64;
  header.hash_high = hash.high64;
  return header;
}

bool valid_entry(const std::string& key, std::span<const char> file) {
  if (file.size() < sizeof(Header) + key.size()) return false;
  const auto body = file.subspan(sizeof(Header));
  const Header expected = header_of(key, body);
  return std::memcmp(file.data(), &expected, sizeof(Header)) == 0 &&
         std::memcmp(body.data(), key.data(), key.size()) == 0;
}

/// Makes `path` and its parents for this user only; true when it is a folder that nobody else may write to.
bool make_private(const fs::path& path) {
  if (path.empty()) return false;
  std::error_code failed;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), failed);
  ::mkdir(path.c_str(), 0700);
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  return (status.st_uid == ::geteuid() || status.st_uid == 0) && (status.st_mode & 022) == 0;
}

bool make_writable(const fs::path& path) { return make_private(path) && ::access(path.c_str(), W_OK) == 0; }

class Descriptor {
 public:
  explicit Descriptor(const fs::path& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

/// The bytes of a regular file of at most `limit`, and marks it as used now. Empty when it is anything else.
std::vector<char> read_entry(const fs::path& path, std::size_t limit) {
  const Descriptor file(path);
  struct stat status {};
  if (file.number() < 0 || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  if (status.st_size <= 0 || static_cast<std::size_t>(status.st_size) > limit) return {};
  std::vector<char> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(file.number(), bytes.data() + done, bytes.size() - done);
    if (n == 0 || (n < 0 && errno != EINTR)) return {};
    if (n > 0) done += static_cast<std::size_t>(n);
  }
  ::futimens(file.number(), nullptr);
  return bytes;
}

bool is_entry(std::string_view name) {
  return name.size() == kKeyDigits + kSuffix.size() && name.ends_with(kSuffix);
}

bool is_temporary(std::string_view name) {
  return name.size() > kKeyDigits && name.substr(kKeyDigits).starts_with(kTemporary);
}

struct Entry {
  fs::path path;
  fs::file_time_type used;
  std::size_t bytes;
};

/// The entries of `directory`; temporary files that a dead process left are removed on the way.
std::vector<Entry> entries_of(const fs::path& directory) {
  std::vector<Entry> entries;
  std::error_code failed;
  const auto stale = fs::file_time_type::clock::now() - kStaleAfter;
  for (fs::directory_iterator it(directory, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string name = it->path().filename().string();
    if (!is_entry(name) && !is_temporary(name)) continue;
    std::error_code gone;
    const auto used = it->last_write_time(gone);
    const auto bytes = gone ? 0 : it->file_size(gone);
    if (gone) continue;
    if (is_entry(name))
      entries.push_back({it->path(), used, static_cast<std::size_t>(bytes)});
    else if (used < stale)
      fs::remove(it->path(), gone);
  }
  return entries;
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && value[0] == '/' ? value : nullptr;
}

}  // namespace

std::string content_key(std::string_view text) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits(text.data(), text.size()));
  std::string key;
  for (const unsigned char byte : bytes.digest) {
    key += "0123456789abcdef"[byte >> 4];
    key += "0123456789abcdef"[byte & 15];
  }
  return key;
}

fs::path ObjectCache::default_directory() {
  fs::path path;
  if (const char* cache = variable("XDG_CACHE_HOME"))
    path = fs::path(cache) / "tightloop";
  else if (const char* home = variable("HOME"))
    path = fs::path(home) / ".cache" / "tightloop";
  if (make_writable(path)) return path;
  std::error_code failed;
  const fs::path temporary = fs::temp_directory_path(failed);
  return failed ? path : temporary / ("tightloop-" + std::to_string(::geteuid()));
}

ObjectCache::ObjectCache(fs::path directory, std::size_t max_bytes)
    : directory_(std::move(directory)), max_bytes_(max_bytes), usable_(make_private(directory_)) {}

fs::path ObjectCache::path_of(const std::string& key) const {
  return directory_ / (content_key(key) + std::string(kSuffix));
}

std::optional<std::vector<char>> ObjectCache::load(const std::string& key) const {
  if (!usable_) return std::nullopt;
  const fs::path path = path_of(key);
  std::error_code failed;
  if (!fs::exists(fs::symlink_status(path, failed))) return std::nullopt;
  std::vector<char> bytes = read_entry(path, max_bytes_);
  if (!valid_entry(key, bytes)) {
    fs::remove(path, failed);
    return std::nullopt;
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(sizeof(Header) + key.size()));
  return bytes;
}

void ObjectCache::store(const std::string& key, std::span<const char> object) const {
  const std::size_t bytes = sizeof(Header) + key.size() + object.size();
  if (!usable_ || bytes > max_bytes_ / 10 * 8) return;
  std::vector<char> body(key.begin(), key.end());
  body.insert(body.end(), object.begin(), object.end());
  const Header header = header_of(key, body);
  try {
    AtomicFile file(path_of(key).string(), false);
    file.write(std::as_bytes(std::span(&header, 1)));
    file.write(std::as_bytes(std::span(body)));
    file.commit();
  } catch (const Error&) {
  }
  trim();
}

void ObjectCache::trim() const {
  std::vector<Entry> entries = entries_of(directory_);
  std::size_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  if (total <= max_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= max_bytes_ / 10 * 8) return;
    std::error_code gone;
    fs::remove(entry.path, gone);
    total -= entry.bytes;
  }
}

}  // namespace tightloop::backends::cpu
