// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>
#include <tightloop/data/csv.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tightloop::data {

/// A text with the number of rows that hold it.
using Counted = std::pair<std::string, std::int64_t>;

struct ColumnSummary {
  std::string name;
  ColumnKind kind = ColumnKind::whole;  ///< of the fields that are there
  std::int64_t missing = 0;             ///< empty, NA, nan, ...
  std::int64_t numbers = 0;             ///< fields that are numbers
  double low = 0, high = 0, mean = 0;   ///< of these
  /// The different texts, the most frequent first, at most `most` of summary(); and how many there are, or
  /// -1 when there are more than kCounted.
  std::vector<Counted> classes = {};
  std::int64_t distinct = 0;
  std::string odd = {};  ///< where numbers and texts are mixed: the first text and its row
};

struct TableSummary {
  std::int64_t rows = 0;
  std::vector<ColumnSummary> columns;
  std::vector<std::vector<std::string>> first;  ///< fields of the first rows
};

inline constexpr std::int64_t kCounted = 1000;

/// One walk over the table. Throws Error as reading it does; a table of no rows is none.
TableSummary summary(const CsvFile& table, std::size_t most = 10, std::size_t first = 5);

struct ArraySummary {
  double low = 0, high = 0, mean = 0;  ///< of the finite elements
  std::int64_t nan = 0, infinite = 0;
};

ArraySummary summary(const Array& values);

/// How often each of 0 … kCounted comes in an array of whole numbers, by number; empty when one is outside.
std::vector<std::pair<std::int64_t, std::int64_t>> counts_of(const Array& values,
                                                             const std::vector<std::int64_t>& rows = {});

}  // namespace tightloop::data
