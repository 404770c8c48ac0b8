// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/loggers/logger.h>

#include <chrono>

namespace tightloop::train {

/// A table with a line an epoch: epoch, step, training and validation loss, metrics, rate, samples a second,
/// seconds, and what callbacks measured. It is written whole, at most once a second.
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

  std::string path_;
  std::vector<std::string> metrics_;
  std::vector<EpochRecord> epochs_;
  bool changed_ = false;
  std::chrono::steady_clock::time_point written_;
};

}  // namespace tightloop::train
