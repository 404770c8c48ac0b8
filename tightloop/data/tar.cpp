// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/data/tar.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>

namespace tightloop::data {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kLongestText = 1 << 20;  ///< of a long name or a pax header

using Block = std::array<std::byte, kBlock>;

std::string_view text_at(const Block& b, std::size_t at, std::size_t size) {
  const auto* begin = reinterpret_cast<const char*>(b.data()) + at;
  return {begin, static_cast<std::size_t>(std::find(begin, begin + size, '\0') - begin)};
}

/// Octal digits, or with the first bit set (GNU) a number in base 256.
bool read_number(const Block& b, std::size_t at, std::size_t size, std::uint64_t& out) {
  out = 0;
  if ((b[at] & std::byte{0x80}) != std::byte{0}) {
    for (std::size_t i = 1; i < size; ++i) {
      if (out >> 55 != 0) return false;
      out = out << 8 | static_cast<std::uint64_t>(b[at + i]);
    }
    return true;
  }
  std::string_view text = text_at(b, at, size);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out, 8);
  return text.empty() ||
         (code == std::errc() &&
          std::string_view(end, text.data() + text.size()).find_first_not_of(' ') == std::string_view::npos);
}

/// The sum of the header's bytes with its own field taken as spaces.
bool checksum_fits(const Block& b) {
  std::uint64_t want = 0, sum = 0;
  if (!read_number(b, 148, 8, want)) return false;
  for (std::size_t i = 0; i < kBlock; ++i)
    sum += i >= 148 && i < 156 ? ' ' : static_cast<std::uint64_t>(b[i]);
  return sum == want;
}

class Reader {
 public:
  Reader(const ReadAt& read, std::uint64_t size, const std::string& name)
      : read_(read), size_(size), name_(name) {}

  TarListing listing() {
    TarListing out;
    Block block;
    while (at_ + kBlock <= size_) {
      read_(block, at_);
      if (std::all_of(block.begin(), block.end(), [](std::byte b) { return b == std::byte{0}; })) {
        out.ended = true;
        return out;
      }
      entry(block, out.members);
    }
    if (at_ < size_) fail("is cut short inside a header");
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(name_ + ": the tar archive " + what + " (at its byte " + std::to_string(at_) + ")");
  }

  void entry(const Block& block, std::vector<TarMember>& out) {
    std::uint64_t size = 0;
    if (!checksum_fits(block)) fail("has a damaged header, or is none");
    if (!read_number(block, 124, 12, size)) fail("has a header with a damaged size");
    const char type = static_cast<char>(block[156]);
    const bool about_next = type == 'x' || type == 'L' || type == 'g' || type == 'K';
    if (!about_next && next_size_ != kNone) size = next_size_;
    const std::uint64_t content = at_ + kBlock;
    if (size > size_ - content) fail("is cut short inside '" + std::string(text_at(block, 0, 100)) + "'");
    if (type == 'x') {
      pax(text(content, size));
    } else if (type == 'L') {
      next_name_ = text(content, size);
      next_name_.resize(std::min(next_name_.find('\0'), next_name_.size()));
    } else if (!about_next) {
      if (type == '0' || type == '\0' || type == '7')
        out.push_back({next_name_.empty() ? short_name(block) : next_name_, content, size});
      next_name_.clear();
      next_size_ = kNone;
    }
    at_ = content + (size + kBlock - 1) / kBlock * kBlock;
    if (at_ > size_) at_ = size_;  // the last file's padding may lack
  }

  std::string text(std::uint64_t at, std::uint64_t size) const {
    if (size > kLongestText) fail("has a name of " + std::to_string(size) + " bytes");
    std::string out(static_cast<std::size_t>(size), '\0');
    read_(std::as_writable_bytes(std::span(out)), at);
    return out;
  }

  static std::string short_name(const Block& b) {
    const std::string name(text_at(b, 0, 100));
    const bool ustar = text_at(b, 257, 5) == "ustar" && static_cast<char>(b[262]) == '\0';
    const std::string_view prefix = ustar ? text_at(b, 345, 155) : std::string_view();
    return prefix.empty() ? name : std::string(prefix) + "/" + name;
  }

  /// Records "length key=value\n"; the length counts itself.
  void pax(std::string_view records) {
    while (!records.empty()) {
      std::size_t length = 0;
      const auto [end, code] = std::from_chars(records.data(), records.data() + records.size(), length);
      const auto digits = static_cast<std::size_t>(end - records.data());
      if (code != std::errc() || length <= digits + 1 || length > records.size() || *end != ' ')
        fail("has a damaged pax header");
      const std::string_view record = records.substr(digits + 1, length - digits - 2);
      const std::size_t equals = std::min(record.find('='), record.size());
      const std::string_view key = record.substr(0, equals),
                             value = record.substr(std::min(equals + 1, record.size()));
      if (key == "path") next_name_ = value;
      if (key == "size" &&
          std::from_chars(value.data(), value.data() + value.size(), next_size_).ec != std::errc())
        fail("has a damaged pax size");
      records.remove_prefix(length);
    }
  }

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  const ReadAt& read_;
  const std::uint64_t size_;
  const std::string& name_;
  std::uint64_t at_ = 0;
  std::string next_name_;  ///< said by a header before the file's own
  std::uint64_t next_size_ = kNone;
};

}  // namespace

TarListing tar_members(const ReadAt& read, std::uint64_t size, const std::string& name) {
  return Reader(read, size, name).listing();
}

}  // namespace tightloop::data
