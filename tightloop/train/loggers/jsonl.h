// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/loggers/append_file.h>
#include <tightloop/train/loggers/logger.h>

namespace tightloop::train {

/// JSON lines: an object a recorded step and one an epoch, in the order of the run.
///
///     {"kind":"step","step":50,"epoch":1,"loss":0.25,"lr":0.001}
///     {"kind":"epoch","step":62,"epoch":1,"train_loss":0.3,"validation_loss":0.4,"mae":0.1,"lr":0.001,…}
///
/// A value that is NaN or infinite is null, and so is that of an epoch without validation. A run that goes on
/// from a checkpoint goes on with the file behind the lines of that checkpoint, so that no step
/// comes twice; epochs that a killed process had no time to write are put in.
class JsonLines final : public Logger {
 public:
  explicit JsonLines(std::string path) : path_(std::move(path)) {}
  std::string name() const override { return "jsonl"; }
  LoggerWants wants() const override { return {.thinned = true}; }

  void start(const RunInfo& info) override;
  void steps(std::span<const StepRecord> records) override;
  void epoch(const EpochRecord& record, const Weights& weights) override;
  void rewind(std::int64_t step) override;
  void flush() override;
  void end(const History&) override { flush(); }

 private:
  void add_epoch(const EpochRecord& record);
  void cut_after(std::int64_t step, std::int64_t epochs);

  std::string path_;
  AppendFile file_;
  std::string waiting_;              ///< lines that are not in the file yet
  std::vector<std::string> values_;  ///< keys as they stand in the file: ,"loss":
  std::vector<std::string> metrics_;
};

/// How many bytes of JSON lines, as they are written here, say nothing of steps after `step` and of epochs
/// after `epochs`; a last line without its end does not count.
std::size_t lines_until(std::string_view text, std::int64_t step, std::int64_t epochs);

}  // namespace tightloop::train
