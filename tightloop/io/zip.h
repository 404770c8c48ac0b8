// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/file.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tightloop::io {

/// A file inside a zip archive.
struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated
  std::uint16_t flags = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;  ///< bytes in the archive
  std::uint64_t size = 0;    ///< bytes of the file
  std::uint64_t header = 0;  ///< where its local header begins
};

/// True when `bytes` begin as a zip archive with files in it does.
bool is_zip(const Bytes& bytes);

/// The directory of a zip archive (PKWARE's APPNOTE 6.3; zip64 too). Throws Error naming `name` when it is
/// missing (cut short?), does not fit the file, is spread over several files, or names a file twice.
std::vector<ZipEntry> zip_entries(const Bytes& archive, const std::string& name);

/// The content of an entry: borrowed when it is stored, inflated when it is deflated. Throws Error naming
/// `name` and the entry when it is encrypted, packed by another method, not of the size or the checksum that
/// the directory says, or lies outside the archive.
Bytes read_zip_entry(const Bytes& archive, const ZipEntry& entry, const std::string& name);

}  // namespace tightloop::io
