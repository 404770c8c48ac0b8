// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/array.h>

#include <cstdint>
#include <functional>
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

/// The rows of all of them, one after the other, copied. Throws Error naming the field when the sets differ
/// in fields, dtypes or dims.
Dataset concatenate(std::span<const Dataset> parts);
/// Rows first .. first + count - 1 as views of the same memory. Throws Error when they are not all there.
Dataset subset(const Dataset& data, std::int64_t first, std::int64_t count);
/// The data set with field `name` replaced by `change` of its values; a new name adds a field, whose change
/// gets the values of `from`. Throws Error when the result has another number of rows.
Dataset map(const Dataset& data, const std::string& from, const std::string& name,
            const std::function<Array(const Array&)>& change);

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
