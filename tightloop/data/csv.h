// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/base/file.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::data {

struct CsvRow;

struct CsvOptions {
  /// 0: tab for a name ending in .tsv (or .tsv.gz), comma otherwise.
  char separator = 0;
  /// Whether the first record names the columns; unset: it does unless all its fields are numbers.
  /// Without a header the columns are named "0", "1", ...
  std::optional<bool> header = std::nullopt;
  /// Most threads of a read; 0: as many as the size is worth. Results and errors do not depend on it.
  int threads = 0;
};

/// Columns to read into one array.
struct ColumnRequest {
  std::vector<std::size_t> columns;  ///< positions in CsvFile::columns()
  DType dtype = DType::f32;          ///< f32, f64, i32 or i64
  bool missing = false;              ///< f32 and f64: a missing number is NaN instead of an error
  /// Places in `columns` that hold texts: the array gets the texts' places in ColumnValues::names.
  std::vector<std::size_t> texts = {};
};

struct ColumnValues {
  Array values;  ///< [rows, columns]
  std::vector<std::vector<std::string>>
      names;  ///< one a place of `texts`: the distinct texts, sorted by bytes
};

inline constexpr std::size_t kMostTexts = 65536;  ///< more different texts are no classes

/// What every field of a column is.
enum class ColumnKind : std::uint8_t { whole, number, text };

/// A text column as numbers: codes[r] is the position of row r's text in `names`.
struct ClassColumn {
  Array codes;                     ///< i64[rows]
  std::vector<std::string> names;  ///< distinct, sorted by bytes unless given
};

/// A CSV file (RFC 4180; UTF-8, with or without byte order mark; gzip or not). Opening reads the header
/// only; each of the calls below walks the file once and throws Error naming file, row, line and column:
/// a row with another number of fields than the header, and for numbers every field that is not
/// one: empty, NA, nan, inf, "1,234", decimal commas, 1e400 (or 1e39 as f32), fractions as integers.
/// Missing values are never filled in. Spaces around a number and around a name are ignored. Rows count from
/// 1 without the header; lines from 1 with everything.
class CsvFile {
 public:
  static CsvFile open(const std::string& path, const CsvOptions& options = {});
  /// `name` stands for the file in messages.
  static CsvFile parse(const Bytes& bytes, std::string name, const CsvOptions& options = {});

  const std::string& name() const { return name_; }
  /// The names of the columns, all different.
  const std::vector<std::string>& columns() const { return columns_; }
  /// Positions of the columns that names and patterns select; see select_columns().
  std::vector<std::size_t> select(const std::vector<std::string>& wanted,
                                  const std::vector<std::string>& reserved = {}) const;

  /// One array [rows, columns] a request. Throws Error when there are no rows.
  std::vector<Array> read(std::span<const ColumnRequest> requests) const;
  /// The same with the names of texts. Throws Error on more than kMostTexts of them in a column.
  std::vector<ColumnValues> read_columns(std::span<const ColumnRequest> requests) const;
  /// One column as [rows].
  Array column(std::string_view name, DType dtype) const;
  /// A column of class names. With `names`, every text must be one of them (the vocabulary of the
  /// training data); without, they are collected. Throws Error on an empty field, an unknown class, or more
  /// than `limit` classes.
  ClassColumn classes(std::size_t column, const std::vector<std::string>* names = nullptr,
                      std::size_t limit = kMostTexts) const;
  ColumnKind kind(std::size_t column) const;
  /// The number of rows without the header; zero is no error here.
  std::int64_t rows() const;

  /// Walks the rows one after the other, each cut into its fields.
  std::int64_t for_each_row(const std::function<void(const CsvRow&)>& function) const;
  /// "a.csv: row 2 (line 3), column 'x': "
  std::string where(const CsvRow& row, std::size_t column) const;

 private:
  /// Nothing when a record is wrong, there are no rows, or a column has more than `limit` texts.
  std::optional<std::vector<ColumnValues>> try_read(std::span<const ColumnRequest> requests,
                                                    std::size_t limit) const;
  std::optional<std::vector<ColumnValues>> read_stretches(std::span<const ColumnRequest> requests,
                                                          std::size_t limit) const;
  /// What try_read() stumbled over, found row by row so that it does not depend on threads.
  [[noreturn]] void explain(std::span<const ColumnRequest> requests) const;
  [[noreturn]] void explain_classes(std::size_t column, const std::vector<std::string>* names,
                                    std::size_t limit) const;
  [[noreturn]] void no_rows() const;

  Bytes bytes_;
  std::string name_;
  char separator_ = ',';
  bool header_ = true;
  int threads_ = 0;
  std::vector<std::string> columns_;
};

/// Reads `wanted` columns (names or patterns) of the file at `path` as one array [rows, columns].
Array read_csv(const std::string& path, const std::vector<std::string>& wanted, DType dtype = DType::f32,
               const CsvOptions& options = {});

/// A column of texts before the numbers of write_csv().
struct RowNames {
  std::string header;                   ///< "": there is none
  std::vector<std::string> names = {};  ///< one a row
  std::set<std::int64_t> gaps = {};     ///< rows whose numbers are left empty
};

/// Writes a header and one row a line by AtomicFile; numbers in the fewest digits that read back as the
/// same value. `columns` are [rows] or [rows, 1] arrays, one a name. Throws Error when they differ in rows.
void write_csv(const std::string& path, const std::vector<std::string>& names,
               const std::vector<Array>& columns, const RowNames& rows = {});

}  // namespace tightloop::data
