// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace tightloop {

/// One column of an alias table: a draw of column c gives c with probability `keep`, else `other`.
struct AliasEntry {
  double keep = 1;
  std::int64_t other = 0;
};

/// The table by which row r is drawn with probability weights[r] / Σ weights (Walker, "An efficient method
/// for generating discrete random variables with general distributions", 1977; built as Vose, 1991). Throws
/// Error with the row (from 1) and the value of a weight that is negative or not finite, and when all are 0.
std::vector<AliasEntry> alias_table(std::span<const double> weights);

}  // namespace tightloop
