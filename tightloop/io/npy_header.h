// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tightloop::io {

inline constexpr std::string_view kNpyMagic("\x93NUMPY", 6);

/// What stands before the values of an NPY file (numpy.lib.format).
struct NpyHeader {
  std::string descr = {};                                        ///< "<f4"; "" for records
  std::vector<std::pair<std::string, std::string>> fields = {};  ///< of records: name and type of each
  bool fortran_order = false;
  std::vector<std::int64_t> shape = {};
  std::size_t start = 0;  ///< of the values in the file
};

/// Reads a header of version 1.0, 2.0 or 3.0 at the start of `text`. Throws Error naming `name` for what is
/// none.
NpyHeader parse_npy_header(std::string_view text, const std::string& name);

/// The bytes in front of the values: version 1.0, or 2.0 when `header`, a Python literal, is too long for it.
/// At least `least` of them.
std::string npy_preamble(std::string header, std::size_t least);

}  // namespace tightloop::io
