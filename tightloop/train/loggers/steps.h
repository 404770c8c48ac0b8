// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/io/npy_table.h>
#include <tightloop/train/loggers/append_file.h>
#include <tightloop/train/loggers/logger.h>

namespace tightloop::train {

/// Every recorded step as a row of a table that NumPy opens (io/npy_table.h): the column "step", i64, and the
/// values of the step, "loss" first, as f32, or as f64 where the run computes in that. Rows rise by step. 16
/// bytes a step with loss and rate, so that a million steps a second can be kept. The header is written after
/// the rows that it counts: a killed process leaves a table that can be read. A run that goes on from a
/// checkpoint goes on behind its step.
class StepTable final : public Logger {
 public:
  explicit StepTable(std::string path) : path_(std::move(path)) {}
  std::string name() const override { return "steps"; }

  /// Throws Error when the file of a run that goes on has other columns.
  void start(const RunInfo& info) override;
  void steps(std::span<const StepRecord> records) override;
  void rewind(std::int64_t step) override;
  void flush() override;
  void end(const History&) override { flush(); }

 private:
  void begin_anew();
  void go_on();

  std::string path_;
  AppendFile file_;
  std::vector<io::TableColumn> columns_;
  std::string waiting_;    ///< rows that are not in the file yet
  std::int64_t rows_ = 0;  ///< with those
  bool wide_ = false;
};

/// Rows of the table in `text` whose step is at most `step`.
std::int64_t rows_until(const io::NpyTable& table, std::string_view text, std::int64_t step);

}  // namespace tightloop::train
