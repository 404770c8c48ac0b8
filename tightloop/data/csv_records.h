// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::data {

/// One field of a CSV record, where it lies in the file.
struct CsvCell {
  std::string_view text;      ///< without the quotes around it
  bool escaped = false;       ///< holds doubled quotes
  std::string value() const;  ///< with doubled quotes made single
};

/// A record of a table, counted.
struct CsvRow {
  const std::vector<CsvCell>& cells;
  std::int64_t number;  ///< from 1, without the header
  std::int64_t line;    ///< from 1, that it begins on

  std::string where() const {
    return "row " + std::to_string(number) + " (line " + std::to_string(line) + ")";
  }
};

/// The bytes of the byte order mark that `text` begins with. Throws Error naming `name` on that of UTF-16.
std::size_t byte_order_mark(std::string_view text, const std::string& name);

/// Walks the records of CSV text (RFC 4180; records end in LF, CRLF or a lone CR; blank lines are
/// skipped; the last needs no end). Throws Error naming the file and the line: a quote that is never
/// closed, a quote inside an unquoted field, text behind a closing quote, a NUL byte.
class CsvRecords {
 public:
  /// `text` and `name` (the file, for messages) must outlive the walk.
  CsvRecords(std::string_view text, char separator, const std::string& name);

  /// Moves to the next record; false at the end.
  bool next();
  const std::vector<CsvCell>& cells() const { return cells_; }
  /// Behind the record and its line end.
  const char* at() const { return at_; }
  /// Goes on at a record's beginning; lines count from there.
  void go_to(const char* record) { at_ = record, line_ = 1; }
  /// The line (from 1) that the record begins on.
  std::int64_t line() const { return record_line_; }

 private:
  [[noreturn]] void fail(std::int64_t line, const std::string& what) const;
  bool at_newline() const { return at_ != end_ && (*at_ == '\n' || *at_ == '\r'); }
  void take_newline();
  void read_plain();
  void read_quoted();

  const char* at_;
  const char* end_;
  const std::string& name_;
  char separator_;
  std::array<bool, 256> special_{};
  std::vector<CsvCell> cells_;
  std::int64_t line_ = 1;
  std::int64_t record_line_ = 1;
};

}  // namespace tightloop::data
