// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/base/file.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::io {

struct StoredLayout {
  bool big_endian = false;
  bool fortran_order = false;
};

/// An element type as NPY and IDX files store it, and the dtype that holds every value of it.
struct StoredType {
  std::string_view npy;  ///< kind and size, as in the NPY descr: "f4"
  std::uint8_t idx;      ///< type byte of an IDX header; 0 when IDX does not have it
  std::size_t size;      ///< bytes per stored element
  DType dtype;
  /// Converts all elements of `out` from `bytes`; throws Error when one does not fit.
  void (*convert)(const std::byte* bytes, StoredLayout layout, Array& out);
};

/// Null when the type is not known.
const StoredType* stored_type_of_npy(std::string_view code);
const StoredType* stored_type_of_idx(std::uint8_t code);
/// "f2, f4, f8, i1, ..."
std::string npy_type_list();

/// The array of `dims` stored in `bytes`: borrowed where the stored form is ours, converted otherwise.
/// Throws Error naming `name` when the number of bytes is not exactly right or a value does not fit.
Array decode(const StoredType& type, std::vector<std::int64_t> dims, const Bytes& bytes, StoredLayout layout,
             const std::string& name);

/// dims × size in bytes; throws Error naming `name` on a negative dim or 64-bit overflow.
std::size_t stored_bytes(const std::vector<std::int64_t>& dims, std::size_t size, const std::string& name);

/// Throws Error naming `name` when a byte of the bool `array` is neither 0 nor 1.
void check_bools(const Array& array, const std::string& name);

}  // namespace tightloop::io
