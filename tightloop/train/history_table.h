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

/// The epochs back, with `metrics` in their order: NaN for those that the table lacks. `columns` as written.
/// Throws Error in the name of `who` when both do not agree.
std::vector<EpochRecord> read_history(const Array& table, const std::string& columns,
                                      const std::vector<std::string>& metrics, const std::string& who);

}  // namespace tightloop::train
