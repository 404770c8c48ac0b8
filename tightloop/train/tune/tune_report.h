// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/report/table.h>
#include <tightloop/train/tune/tuner.h>

#include <string>
#include <vector>

namespace tightloop::train::tune {

/// A row a way that was tried: move, how, gain, memory, effect on the loss, taken or why not. Moves for which
/// there was nothing to try come last.
report::Table tune_table(const TuneResult& result);

/// What the page says beside the table.
struct TunePage {
  std::string title;  ///< the job's name
  std::string job;    ///< the text of tuned.toml; "": nothing was taken
  std::string tuned_file;
  std::int64_t loss_samples = 0;  ///< after which losses were compared
};

/// Sentences on what was compared and how sure that is.
std::vector<std::string> tune_notes(const TuneResult& result, const TuneOptions& options,
                                    std::int64_t loss_samples);

/// A page that needs nothing but itself, with the look of a run's report.
std::string tune_html(const TuneResult& result, const TuneOptions& options, const TunePage& page);

}  // namespace tightloop::train::tune
