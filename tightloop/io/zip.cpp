// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/io/zip.h>

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>

namespace tightloop::io {
namespace {

constexpr std::string_view kLocal("PK\3\4", 4), kCentral("PK\1\2", 4), kEnd("PK\5\6", 4), kEnd64("PK\6\6", 4),
    kLocator64("PK\6\7", 4);
constexpr std::uint64_t kInZip64 = 0xffffffff;  ///< the value stands in the zip64 field instead

/// Little-endian numbers from a text, never from outside of it.
class Fields {
 public:
  Fields(std::string_view text, std::uint64_t at, const std::string& name) : text_(text), name_(name) {
    if (at > text.size()) cut();
    at_ = static_cast<std::size_t>(at);
  }
  std::uint64_t number(std::size_t bytes) {
    const std::string_view raw = take(bytes);
    std::uint64_t out = 0;
    for (std::size_t i = bytes; i-- > 0;) out = out << 8 | static_cast<unsigned char>(raw[i]);
    return out;
  }
  std::string_view take(std::uint64_t bytes) {
    if (bytes > text_.size() - at_) cut();
    at_ += static_cast<std::size_t>(bytes);
    return text_.substr(at_ - static_cast<std::size_t>(bytes), static_cast<std::size_t>(bytes));
  }
  bool begin_with(std::string_view mark) { return left() >= mark.size() && take(mark.size()) == mark; }
  std::size_t left() const { return text_.size() - at_; }
  std::size_t at() const { return at_; }

 private:
  [[noreturn]] void cut() const { throw Error(name_ + ": the zip archive is cut short or damaged"); }

  std::string_view text_;
  std::size_t at_ = 0;
  const std::string& name_;
};

struct Directory {
  std::uint64_t entries = 0, size = 0, at = 0;
};

std::size_t end_record(std::string_view text, const std::string& name) {
  constexpr std::size_t kRecord = 22, kComment = 0xffff;
  if (text.size() >= kRecord)
    for (std::size_t at = text.size() - kRecord, n = 0; n <= kComment; --at, ++n) {
      if (text.substr(at, 4) == kEnd) return at;
      if (at == 0) break;
    }
  throw Error(name + ": the zip archive has no directory at its end (is it cut short?)");
}

Directory directory_of(std::string_view text, const std::string& name) {
  const std::size_t end = end_record(text, name);
  Fields f(text, end + 4, name);
  const bool one = f.number(4) == 0;  // the number of this file, and of the directory's
  f.number(2);
  Directory out;
  out.entries = f.number(2);
  out.size = f.number(4);
  out.at = f.number(4);
  const std::uint64_t comment = f.number(2);
  if (f.left() != comment || !one)
    throw Error(name + ": the zip archive goes on in other files, or has bytes behind its end");
  if (out.entries != 0xffff && out.size != kInZip64 && out.at != kInZip64) return out;
  constexpr std::size_t kLocator = 20;
  if (end < kLocator) throw Error(name + ": the zip archive is damaged");
  Fields locator(text, end - kLocator, name);
  if (!locator.begin_with(kLocator64)) return out;
  locator.number(4);
  Fields wide(text, locator.number(8), name);
  if (!wide.begin_with(kEnd64)) throw Error(name + ": the zip archive is damaged: no zip64 directory");
  wide.take(8 + 2 + 2 + 4 + 4 + 8);
  out.entries = wide.number(8);
  out.size = wide.number(8);
  out.at = wide.number(8);
  return out;
}

/// Sizes and place that do not fit into 32 bits stand in a field of their own, in this order.
void read_wide(std::string_view extra, ZipEntry& entry, const std::string& name) {
  Fields all(extra, 0, name);
  while (all.left() >= 4) {
    const std::uint64_t kind = all.number(2), size = all.number(2);
    const std::string_view content = all.take(std::min<std::uint64_t>(size, all.left()));
    if (kind != 1) continue;
    Fields wide(content, 0, name);
    for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.header})
      if (*value == kInZip64) *value = wide.number(8);
  }
}

ZipEntry next_entry(Fields& f, const std::string& name) {
  if (!f.begin_with(kCentral)) throw Error(name + ": the directory of the zip archive is damaged");
  ZipEntry out;
  f.take(4);
  out.flags = static_cast<std::uint16_t>(f.number(2));
  out.method = static_cast<std::uint16_t>(f.number(2));
  f.take(4);
  out.crc = static_cast<std::uint32_t>(f.number(4));
  out.packed = f.number(4);
  out.size = f.number(4);
  const std::uint64_t length = f.number(2), extra = f.number(2), comment = f.number(2);
  f.take(8);
  out.header = f.number(4);
  out.name = f.take(length);
  read_wide(f.take(extra), out, name);
  f.take(comment);
  return out;
}

Bytes inflated(std::string_view packed, std::uint64_t size, const std::string& where) {
  constexpr std::uint64_t kMostRatio = 1032;  // of deflate
  if (size > packed.size() * kMostRatio + 64) throw Error(where + "is not of the size that the archive says");
  auto* out = static_cast<std::byte*>(std::aligned_alloc(64, (size + 64) / 64 * 64));
  if (out == nullptr) throw Error(where + "no memory for " + std::to_string(size) + " bytes");
  const Bytes bytes(out, size, std::shared_ptr<void>(out, std::free));
  z_stream z{};
  if (inflateInit2(&z, -15) != Z_OK) throw Error(where + "no memory to inflate it");
  constexpr std::uint64_t kStep = 1U << 30;  // zlib counts in 32 bits
  std::uint64_t used = 0, made = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + used));
    const std::uint64_t given = std::min<std::uint64_t>(packed.size() - used, kStep);
    const std::uint64_t room = std::min<std::uint64_t>(size - made, kStep);
    z.avail_in = static_cast<uInt>(given);
    z.next_out = reinterpret_cast<Bytef*>(out + made);
    z.avail_out = static_cast<uInt>(room);
    code = inflate(&z, Z_NO_FLUSH);
    used += given - z.avail_in;
    made += room - z.avail_out;
  }
  inflateEnd(&z);
  if (code != Z_STREAM_END || made != size || used != packed.size())
    throw Error(where + "the packed data is damaged or cut short");
  return bytes;
}

std::uint32_t checksum(const Bytes& bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

bool is_zip(const Bytes& bytes) { return bytes.text().starts_with(kLocal); }

std::vector<ZipEntry> zip_entries(const Bytes& archive, const std::string& name) {
  const Directory directory = directory_of(archive.text(), name);
  Fields f(archive.text(), directory.at, name);
  std::vector<ZipEntry> out;
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    out.push_back(next_entry(f, name));
    if (!seen.insert(out.back().name).second)
      throw Error(name + ": the zip archive holds '" + out.back().name + "' twice");
  }
  return out;
}

Bytes read_zip_entry(const Bytes& archive, const ZipEntry& entry, const std::string& name) {
  const std::string where = name + ": '" + entry.name + "': ";
  if ((entry.flags & 1) != 0) throw Error(where + "is encrypted; save it without a password");
  if (entry.method != 0 && entry.method != 8)
    throw Error(where + "is packed by method " + std::to_string(entry.method) +
                "; stored and deflated files are read");
  Fields f(archive.text(), entry.header, name);
  if (!f.begin_with(kLocal)) throw Error(where + "is not where the directory of the archive says");
  f.take(22);
  const std::uint64_t length = f.number(2), extra = f.number(2);
  f.take(length + extra);
  const std::size_t at = f.at();
  const std::string_view packed = f.take(entry.packed);
  if (entry.method == 0 && entry.size != entry.packed)
    throw Error(where + "is not of the size that the archive says");
  const Bytes out = entry.method == 0
                        ? Bytes(archive.data() + at, static_cast<std::size_t>(entry.size), archive.owner())
                        : inflated(packed, entry.size, where);
  if (checksum(out) != entry.crc) throw Error(where + "its checksum is wrong: the archive is damaged");
  return out;
}

}  // namespace tightloop::io
