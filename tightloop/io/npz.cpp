// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/base/mapped.h>
#include <tightloop/io/npy.h>
#include <tightloop/io/npz.h>

#include <algorithm>

namespace tightloop::io {
namespace {

constexpr std::string_view kSuffix = ".npy";

/// The name of the first file, which stands behind the local header at the front.
std::string_view first_name(const Bytes& bytes) {
  constexpr std::size_t kLength = 26, kName = 30;
  const std::string_view text = bytes.text();
  if (text.size() < kName) return {};
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(text[kLength]) |
                                               static_cast<unsigned char>(text[kLength + 1]) << 8);
  return text.substr(kName, length);
}

}  // namespace

bool is_npz(const Bytes& bytes) { return is_zip(bytes) && first_name(bytes).ends_with(kSuffix); }

NpzFile NpzFile::open(const std::string& path) {
  const Bytes bytes = read_file(path);
  return while_unchanged(bytes, [&] { return parse(bytes, path); });
}

NpzFile NpzFile::parse(const Bytes& bytes, const std::string& name) {
  NpzFile out;
  out.bytes_ = bytes;
  out.name_ = name;
  out.entries_ = zip_entries(bytes, name);
  for (const auto& e : out.entries_)
    if (!e.name.ends_with(kSuffix))
      throw Error(name + ": holds '" + e.name + "'; an .npz archive holds .npy files only");
  if (out.entries_.empty()) throw Error(name + ": holds no arrays");
  return out;
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> out;
  for (const auto& e : entries_) out.push_back(e.name.substr(0, e.name.size() - kSuffix.size()));
  return out;
}

Array NpzFile::read(const std::string& name) const {
  const auto have = names();
  const auto found = std::find(have.begin(), have.end(), name);
  if (found == have.end()) {
    std::string list;
    for (const auto& n : have) list += (list.empty() ? "" : ", ") + n;
    throw Error(name_ + ": holds no array '" + name + "'" + suggestion(name, have) + "; it has " + list);
  }
  const ZipEntry& entry = entries_[static_cast<std::size_t>(found - have.begin())];
  return while_unchanged(
      bytes_, [&] { return parse_npy(read_zip_entry(bytes_, entry, name_), name_ + ": " + entry.name); });
}

}  // namespace tightloop::io
