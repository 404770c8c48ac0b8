// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace tightloop::train::report {

/// Texts in rows; escaped when they are written.
struct Table {
  std::string caption;  ///< "": none
  std::vector<std::string> head;
  std::vector<bool> left = {};  ///< columns of words; those beyond and false ones are numbers, aligned right
  std::vector<std::vector<std::string>> rows = {};
  std::vector<std::string> links = {};  ///< addresses that the rows' first texts lead to; "": nowhere
  bool keys = false;                    ///< the first texts carry the colours of a chart's lines
};

/// A table that scrolls sideways where the page is too narrow for it. The first column names the row. A text
/// that is longer than a line breaks anywhere.
std::string table_html(const Table& table);

/// The same columns as plain text, two spaces apart, for a terminal.
std::string table_text(const Table& table);

}  // namespace tightloop::train::report
