// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/io/zip.h>

#include <string>
#include <vector>

namespace tightloop::io {

/// Arrays by name, as numpy.savez and savez_compressed write them: a zip archive of NPY files. Opening reads
/// the directory; an array is read when it is asked for, and borrows the mapped file where it is stored, of a
/// type of ours, and aligned.
class NpzFile {
 public:
  /// Throws Error naming the file: what zip_entries() refuses, files that are no .npy, no arrays.
  static NpzFile open(const std::string& path);
  static NpzFile parse(const Bytes& bytes, const std::string& name);

  /// Without ".npy", in the order of the archive.
  std::vector<std::string> names() const;
  /// Throws Error naming file and array: no such name (with the nearest), and what read_zip_entry() and
  /// parse_npy() refuse.
  Array read(const std::string& name) const;

 private:
  Bytes bytes_;
  std::string name_;
  std::vector<ZipEntry> entries_;
};

/// True when `bytes` are a zip archive that holds .npy files.
bool is_npz(const Bytes& bytes);

}  // namespace tightloop::io
