// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/dtype.h>
#include <tightloop/data/csv_records.h>
#include <tightloop/data/csv_stretches.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tightloop::data {

/// Numbers texts in the order in which they come. The texts that it is given must outlive it.
class TextNumbers {
 public:
  /// The number of `text`; -1 when there are more than `limit` texts.
  std::int64_t of(std::string_view text, std::size_t limit);
  /// For a text that does not outlive it.
  std::int64_t of_copy(std::string text, std::size_t limit);
  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string_view, std::int64_t> numbers_;
  std::vector<std::string_view> texts_;
  std::deque<std::string> copies_;
};

/// What becomes of `count` columns of a table that stand side by side.
struct ColumnRun {
  bool wanted = false;  ///< false: passed over
  DType dtype = DType::f32;
  bool missing = false;  ///< a missing number is NaN, not a failure
  bool text = false;     ///< the number of a text in `texts` instead of the number that it is
  std::size_t texts = 0;
  std::size_t count = 1;
  std::byte* to = nullptr;    ///< the first column's element of the first row; the others follow
  std::size_t row_bytes = 0;  ///< from row to row
  bool again = false;         ///< the next run is of the same column (count 1)
  bool last = false;          ///< ends with the record; set by the reader
};

/// Reads one stretch of a table into arrays. Fields of the usual form are read where they stand, without
/// looking for their ends first; a record with anything else in it is cut into cells and read by the rules of
/// parse_number(). It stops at the first record that is wrong, and leaves it to another to say what is.
class CsvReader {
 public:
  /// `text` is the whole table; it and `name` must outlive the reader. `runs` covers all its columns; `texts`
  /// are as many as `text` runs, `limit` the most texts of one.
  CsvReader(std::string_view text, char separator, const std::string& name, std::size_t columns,
            std::vector<ColumnRun> runs, std::size_t texts, std::size_t limit);

  /// False when a record is wrong.
  bool read(const CsvStretch& stretch);
  std::int64_t rows() const { return rows_; }
  const std::vector<TextNumbers>& texts() const { return texts_; }

 private:
  const char* plain_record(const char* p);
  const char* plain_run(const char* p, const ColumnRun& run);
  const char* behind(const char* end, bool last) const;
  template <class T>
  const char* numbers(const char* p, const ColumnRun& run) const;
  template <class T>
  const char* number_in_field(const char* p, T& out, bool missing) const;
  template <class T>
  const char* text(const char* p, const ColumnRun& run);
  const char* skip(const char* p, const ColumnRun& run) const;
  bool cut_record(const char*& p);
  bool store(const ColumnRun& run, const CsvCell& cell, std::size_t i);

  const char* end_;
  const char* fast_end_;  ///< records that begin before it may be read by looking ahead
  char separator_;
  std::size_t columns_;
  std::vector<ColumnRun> runs_;
  std::vector<TextNumbers> texts_;
  std::size_t limit_;
  CsvRecords records_;
  std::int64_t rows_ = 0;
};

}  // namespace tightloop::data
