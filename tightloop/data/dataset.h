// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::data {

/// One named array of a data set; the first dim counts rows.
struct Field {
  std::string name;
  Array values;  ///< [N, ...]
};

/// Named fields with the same number of rows, at least one.
class Dataset {
 public:
  /// Throws Error with the numbers when there are no fields, a name comes twice, a field is a scalar, has no
  /// rows, or has other rows than the first.
  explicit Dataset(std::vector<Field> fields);

  std::int64_t rows() const { return rows_; }
  const std::vector<Field>& fields() const { return fields_; }
  /// Null when there is no field of that name.
  const Array* find(std::string_view name) const;
  /// Throws Error (with the nearest name) when there is no such field.
  const Array& operator[](std::string_view name) const;
  /// A copy of the given rows, in their order. Throws Error on none and on one out of range.
  Dataset select(std::span<const std::int64_t> rows) const;

 private:
  std::vector<Field> fields_;
  std::int64_t rows_ = 0;
};

/// The given rows of `values: [N, ...]`, copied.
Array take_rows(const Array& values, std::span<const std::int64_t> rows);

/// Which rows are trained on and which are held back; each list rises and together they are all rows.
struct Split {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> validation;
};

inline constexpr std::uint64_t kSplitSeed = 0x7469676874;  ///< used unless a split names its own

/// Holds back round(rows × fraction) rows, drawn by a generator of its own that never changes, so the same
/// split comes back whatever the seed of the training. Throws Error with the numbers unless both sides get a
/// row.
Split split_rows(std::int64_t rows, double fraction, std::uint64_t seed = kSplitSeed);

}  // namespace tightloop::data
