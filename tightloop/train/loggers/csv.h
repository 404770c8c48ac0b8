// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/loggers/append_file.h>
#include <tightloop/train/loggers/logger.h>

#include <chrono>

namespace tightloop::train {

/// A table with a line an epoch: epoch, step, training and validation loss, metrics, rate, samples a second,
/// seconds, and what callbacks measured. Lines are added once a second; the table is written anew when an
/// epoch has a value that those before had not.
class CsvTable final : public Logger {
 public:
  explicit CsvTable(std::string path) : path_(std::move(path)) {}
  std::string name() const override { return "csv"; }

  void start(const RunInfo& info) override;
  void epoch(const EpochRecord& record, const Weights& weights) override;
  void flush() override;
  void end(const History&) override { write(); }

 private:
  void write();

  bool has_columns_of(const EpochRecord& record) const;

  std::string path_;
  AppendFile file_;
  std::vector<std::string> metrics_, extra_;
  std::vector<EpochRecord> epochs_;
  std::size_t lines_ = 0;    ///< epochs that are in the file
  bool new_columns_ = true;  ///< the file is to be written from its head on
  std::chrono::steady_clock::time_point written_;
};

}  // namespace tightloop::train
