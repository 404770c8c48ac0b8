// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job.h>

#include <vector>

namespace tightloop::train::keys {

/// The table data.columns: `"city" = "category"`, `"x*" = { type = "number", missing = "mean" }`. Throws
/// Error with its place on unknown words and on what does not go together.
std::vector<data::ColumnRule> column_rules(const Value& v);
/// Nothing when there are no rules.
Value column_rules_value(const std::vector<data::ColumnRule>& rules);

}  // namespace tightloop::train::keys
