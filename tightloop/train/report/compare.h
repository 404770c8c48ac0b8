// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job.h>
#include <tightloop/train/report/metric_table.h>
#include <tightloop/train/report/table.h>

#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

/// A run as its directory shows it.
struct RunSummary {
  std::string path;
  MetricTable table;
  std::optional<Job> job;  ///< none when it cannot be read
  std::string state;       ///< "finished", "interrupted", "not ended: ..."
  std::string report;      ///< the path of its page; "": none
  std::optional<std::size_t> best = {};
  std::string steps = {};  ///< where the table of its steps would be
};

/// Several runs beside each other.
struct Comparison {
  std::vector<RunSummary> runs;        ///< the best first
  Watched watched;                     ///< by which they are sorted
  std::vector<std::string> notes;      ///< runs that were left out and why, and what else to know
  report::Table results, differences;  ///< one row a run; one row for each key in which the jobs differ
};

/// Reads the run directories. `by`: the metric to sort by; "": the one that the first run's job watches where
/// all runs have it, else the validation loss or the training loss. What cannot be read is named in the
/// notes. Throws Error when no run can be read, and for a metric that none has.
Comparison compare_runs(const std::vector<std::string>& paths, const std::string& by = "");

/// A self-contained page like report_html(), to be written to `path`: curves over each other, results, and
/// the keys in which the jobs differ.
std::string comparison_html(const Comparison& comparison, const std::string& path);

}  // namespace tightloop::train
