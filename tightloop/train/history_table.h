// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run's epochs as the table that a checkpoint keeps.
#include <tightloop/base/array.h>
#include <tightloop/train/history.h>

#include <string>
#include <vector>

namespace tightloop::train {

/// Names of all EpochRecord::extra values, in the order in which they first came.
std::vector<std::string> extra_names(const std::vector<EpochRecord>& epochs);

/// Its columns, one a line: seven of each record, "metric.<name>" for `metrics`, "extra.<name>".
std::string history_columns(const std::vector<EpochRecord>& epochs, const std::vector<std::string>& metrics);
/// f64[epochs, columns]; NaN where a record has no such value.
Array history_table(const std::vector<EpochRecord>& epochs, const std::vector<std::string>& metrics);

/// The same of a history that grows: what was there before is not gone through again.
class HistoryRows {
 public:
  /// Columns as history_columns(), after table().
  const std::string& columns() const { return columns_; }
  /// The table of the first `count` epochs of a history of `epochs`; those that were seen before are as they
  /// were.
  Array table(const std::vector<EpochRecord>& epochs, std::size_t count,
              const std::vector<std::string>& metrics);
  /// The history is another one from now on.
  void clear();

 private:
  void add(const EpochRecord& record, std::size_t metrics);
  bool has_columns_of(const EpochRecord& record) const;

  std::vector<std::string> extra_;
  std::string columns_;
  std::vector<double> rows_;
  std::size_t count_ = 0;  ///< epochs in rows_
};

/// The epochs back, with `metrics` in their order: NaN for those that the table lacks. `columns` as written.
/// Throws Error in the name of `who` when both do not agree.
std::vector<EpochRecord> read_history(const Array& table, const std::string& columns,
                                      const std::vector<std::string>& metrics, const std::string& who);

}  // namespace tightloop::train
