// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/history.h>

#include <optional>
#include <string>
#include <vector>

namespace tightloop::cli {

/// The line that a terminal shows while a run goes on.
struct ProgressLine {
  train::Progress progress;
  std::vector<std::string> metrics;             ///< names
  std::optional<train::Evaluation> validation;  ///< the last one
  std::optional<double> seconds_left;

  /// At most `width` - 1 columns: what matters least is left out where the terminal is narrow. The bar is
  /// coloured when `colour`, by sequences that take no columns.
  std::string text(int width, bool colour) const;
};

/// "12 k samples/s"
std::string rate_text(double samples_per_s);
/// "0:42", "1:05:07", "3 d 4 h"
std::string time_text(double seconds);

/// Columns of the terminal on the standard output, 80 where it does not say.
int terminal_width();
/// False where the environment has NO_COLOR (no-color.org).
bool wants_colour();

}  // namespace tightloop::cli
