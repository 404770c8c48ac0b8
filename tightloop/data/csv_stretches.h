// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace tightloop::data {

/// A part of a table's text that begins where a record (or blank lines before one) does.
struct CsvStretch {
  const char* begin;
  const char* end;       ///< where the next one begins
  std::int64_t records;  ///< at most so many begin here
};

/// Cuts `text` into at most `parts` stretches of about the same length, at line ends outside quotes. Before
/// the first thing that is wrong in the text the cuts are right; what they are behind it does not matter.
std::vector<CsvStretch> cut_records(std::string_view text, int parts);

/// How many threads a text of so many bytes is worth.
int csv_threads(std::size_t bytes);

/// Runs job(0) … job(count - 1), each on a thread of its own.
void run_beside(std::size_t count, const std::function<void(std::size_t)>& job);

}  // namespace tightloop::data
