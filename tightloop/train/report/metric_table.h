// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers of a run's epochs by column, as metrics.csv holds them.
#include <tightloop/train/history.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::train {

struct MetricTable {
  std::vector<std::string> columns;         ///< "epoch" is the first
  std::vector<std::vector<double>> values;  ///< one a column, all equally long; NaN: not measured

  std::size_t rows() const { return values.empty() ? 0 : values[0].size(); }
  /// Null when there is no such column.
  const std::vector<double>* find(std::string_view column) const;
  /// The losses, the metrics and what callbacks measured: all but epoch, step, lr, samples_per_s and seconds.
  std::vector<std::string> measured() const;
};

/// The table of a history; `metrics` are the names of the validation metrics.
MetricTable metric_table(const std::vector<EpochRecord>& epochs, const std::vector<std::string>& metrics);

/// Reads the text of a metrics.csv. A last line that was cut short is left out. Throws Error in the name of
/// `name`, with the line, for what is no such table.
MetricTable parse_metrics(std::string_view text, const std::string& name);

/// A column and which of its values are better.
struct Watched {
  std::string metric;
  bool lower = true;
};

/// `metric` with the direction that the metric has.
Watched watched(const std::string& metric);
/// What is watched when nobody says: the validation loss, or the training loss where there is none.
Watched usual_metric(const MetricTable& table);
/// The row with the best value, the first of equals; none when no value is a number.
std::optional<std::size_t> best_row(const MetricTable& table, const Watched& watched);

}  // namespace tightloop::train
