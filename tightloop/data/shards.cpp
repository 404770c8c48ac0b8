// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/columns.h>
#include <tightloop/data/shards.h>
#include <tightloop/data/tar.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>

namespace tightloop::data {
namespace {

class File {
 public:
  explicit File(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw Error(path + ": cannot be read: " + std::strerror(errno));
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::uint64_t size() const {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) throw Error(path_ + ": cannot be read: " + std::strerror(errno));
    return static_cast<std::uint64_t>(status.st_size);
  }
  void read(std::span<std::byte> to, std::uint64_t offset) const {
    while (!to.empty()) {
      const ssize_t got = ::pread(descriptor_, to.data(), to.size(), static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0)
        throw Error(path_ + ": cannot be read: " + (got < 0 ? std::strerror(errno) : "it became shorter"));
      to = to.subspan(static_cast<std::size_t>(got));
      offset += static_cast<std::uint64_t>(got);
    }
  }

 private:
  const std::string& path_;
  int descriptor_;
};

/// A member's name up to the first dot of its last part, and the rest in lower case.
struct SplitName {
  std::string key;
  std::string extension;
};
SplitName split_name(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t dot = name.find('.', slash == std::string::npos ? 0 : slash + 1);
  if (dot == std::string::npos) return {name, ""};
  SplitName out{name.substr(0, dot), name.substr(dot + 1)};
  for (char& c : out.extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

[[noreturn]] void bad_braces(std::string_view pattern, const std::string& why) {
  throw Error(std::string(pattern) + ": " + why);
}

/// "000..012" in full, or nothing when it is no range.
std::vector<std::string> range(std::string_view inside, std::string_view pattern) {
  const std::size_t dots = inside.find("..");
  if (dots == std::string_view::npos) return {};
  const std::string_view low = inside.substr(0, dots), high = inside.substr(dots + 2);
  std::uint64_t first = 0, last = 0;
  const auto number = [](std::string_view s, std::uint64_t& out) {
    const auto [end, code] = std::from_chars(s.data(), s.data() + s.size(), out);
    return code == std::errc() && end == s.data() + s.size();
  };
  if (!number(low, first) || !number(high, last))
    bad_braces(pattern, "a range in braces is two numbers such as {000..009}");
  if (last < first || last - first >= 1000000)
    bad_braces(pattern, "a range in braces must rise, by less than a million");
  std::vector<std::string> out;
  for (std::uint64_t i = first; i <= last; ++i) {
    std::string text = std::to_string(i);
    if (text.size() < low.size()) text.insert(0, low.size() - text.size(), '0');
    out.push_back(std::move(text));
  }
  return out;
}

std::vector<std::string> alternatives(std::string_view inside, std::string_view pattern) {
  std::vector<std::string> out = range(inside, pattern);
  if (!out.empty()) return out;
  for (;;) {
    const std::size_t comma = inside.find(',');
    out.emplace_back(inside.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    inside.remove_prefix(comma + 1);
  }
}

}  // namespace

bool is_shards(std::string_view path) { return path.ends_with(".tar"); }

std::vector<std::string> expand_braces(std::string_view pattern) {
  const std::size_t open = pattern.find('{');
  if (open == std::string_view::npos) return {std::string(pattern)};
  const std::size_t close = pattern.find('}', open);
  if (close == std::string_view::npos) bad_braces(pattern, "a brace does not close");
  std::vector<std::string> out;
  const auto rest = expand_braces(pattern.substr(close + 1));
  for (const std::string& middle : alternatives(pattern.substr(open + 1, close - open - 1), pattern))
    for (const std::string& end : rest) {
      if (out.size() >= 1000000) bad_braces(pattern, "the braces make over a million names");
      out.push_back(std::string(pattern.substr(0, open)) + middle + end);
    }
  return out;
}

Shards::Shards(const std::string& pattern, const std::vector<std::vector<std::string>>& fields)
    : fields_(fields), archives_(expand_braces(pattern)) {
  for (std::uint32_t a = 0; a < archives_.size(); ++a) add_archive(archives_[a], a);
}

void Shards::add_archive(const std::string& path, std::uint32_t number) {
  const File file(path);
  const auto [members, ended] =
      tar_members([&](std::span<std::byte> to, std::uint64_t at) { file.read(to, at); }, file.size(), path);
  const std::size_t before = samples_.size();
  std::vector<Part> parts(fields_.size());
  std::vector<bool> found(fields_.size());
  std::string key;
  const auto finish = [&] {
    if (std::find(found.begin(), found.end(), true) == found.end()) return;
    const auto lacks = std::find(found.begin(), found.end(), false);
    if (lacks != found.end())
      throw Error(path + ": the sample '" + key + "' has no file with the extension " +
                  name_list(fields_[static_cast<std::size_t>(lacks - found.begin())]));
    samples_.push_back({number, key});
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    std::fill(found.begin(), found.end(), false);
  };
  for (const TarMember& m : members) {
    const SplitName name = split_name(m.name);
    if (name.key != key) finish(), key = name.key;
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const auto at = std::find(fields_[f].begin(), fields_[f].end(), name.extension);
      if (at == fields_[f].end() || found[f]) continue;
      if (m.size > std::numeric_limits<std::uint32_t>::max())
        throw Error(path + ": '" + m.name + "' is larger than 4 GiB");
      parts[f] = {m.offset, static_cast<std::uint32_t>(m.size),
                  static_cast<std::uint32_t>(at - fields_[f].begin())};
      found[f] = true;
    }
  }
  finish();
  if (!ended)
    notes_.push_back(path + ": has no end-of-archive blocks, so it may be cut short after '" +
                     (members.empty() ? "" : members.back().name) + "'");
  if (samples_.size() == before) {
    std::vector<std::string> wanted;
    for (const auto& f : fields_) wanted.push_back(name_list(f));
    std::string text;
    for (const auto& w : wanted) text += (text.empty() ? "" : " and ") + w;
    throw Error(path + ": has no sample with files of the extensions " + text);
  }
}

std::string Shards::name(std::int64_t i) const {
  const Sample& s = samples_[static_cast<std::size_t>(i)];
  return archives_[s.archive] + "/" + s.key;
}

const std::string& Shards::extension(std::int64_t i, std::size_t field) const {
  return fields_[field][parts_[static_cast<std::size_t>(i) * fields_.size() + field].extension];
}

void Shards::read(std::int64_t i, std::size_t field, std::vector<std::byte>& bytes) const {
  const Part& part = parts_[static_cast<std::size_t>(i) * fields_.size() + field];
  bytes.resize(part.size);
  File(archives_[samples_[static_cast<std::size_t>(i)].archive]).read(bytes, part.offset);
}

}  // namespace tightloop::data
