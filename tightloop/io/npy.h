// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/base/file.h>
#include <tightloop/io/stored_type.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::io {

/// Reads an NPY file of version 1.0, 2.0 or 3.0 (numpy.lib.format), gzip or not. The array borrows
/// the mapped file when its bytes are ours (C order, little endian); Fortran order and big endian are
/// converted. Types without a dtype of ours are widened without loss: i1, i2, u2 → i32; u4, u8 → i64
/// (a u8 over the range of i64 is refused). Throws Error naming the file on anything else: objects,
/// strings, complex numbers, records, a malformed header, missing or trailing bytes.
Array read_npy(const std::string& path);

/// The same from bytes; `name` stands for the file in messages.
Array parse_npy(const Bytes& bytes, const std::string& name);

/// Where and how the values of an NPY file lie.
struct NpyLayout {
  const StoredType* type = nullptr;
  StoredLayout order = {};
  std::vector<std::int64_t> shape = {};
  std::size_t start = 0;  ///< of the values in the file
};
/// What the header at the start of `text` says; throws as parse_npy().
NpyLayout parse_npy_layout(std::string_view text, const std::string& name);

/// The header of an array in C order, for files that are written bit by bit. At least `least` bytes: with the
/// size of an earlier header it can take its place.
std::string npy_header(DType dtype, const std::vector<std::int64_t>& dims, const std::string& path,
                       std::size_t least = 0);

/// Writes version 1.0 (2.0 when the header is too long for it) in C order by AtomicFile.
/// Throws Error for bf16, which NPY does not have.
void write_npy(const std::string& path, const Array& array);

/// True when `bytes` begin with the NPY magic.
bool is_npy(std::span<const std::byte> bytes);

}  // namespace tightloop::io
