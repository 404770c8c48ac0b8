// SPDX-License-Identifier: Apache-2.0
#pragma once
// A table as an NPY file: records with a named field for each column, packed, little endian. NumPy opens it
// as a structured array, `numpy.load(path, mmap_mode="r")["loss"]`, and pandas makes a frame of that.
#include <tightloop/base/dtype.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::io {

struct TableColumn {
  std::string name;
  DType dtype = DType::f32;  ///< i64, f32 or f64
  bool operator==(const TableColumn&) const = default;
};

/// Where the values of a table lie: row r of column c begins at start + r · row_bytes + offset(c).
struct NpyTable {
  std::vector<TableColumn> columns;
  std::int64_t rows = 0;
  std::size_t start = 0;
  std::size_t row_bytes = 0;

  std::size_t offset(std::size_t column) const;
  /// The value of a row as a number; `bytes` is the whole file.
  double at(std::string_view bytes, std::int64_t row, std::size_t column) const;
};

std::size_t bytes_of_row(const std::vector<TableColumn>& columns);

/// The header of a table of `rows` rows. Its size does not depend on `rows`, so that it can be written again
/// over itself when the table has grown.
std::string npy_table_header(const std::vector<TableColumn>& columns, std::int64_t rows);

/// Reads the header at the start of `text`, the whole file. Rows that the file ends before do not count.
/// Throws Error naming `name` when it is no such table.
NpyTable parse_npy_table(std::string_view text, const std::string& name);

}  // namespace tightloop::io
