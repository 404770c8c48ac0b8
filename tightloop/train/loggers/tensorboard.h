// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/io/events.h>
#include <tightloop/train/loggers/append_file.h>
#include <tightloop/train/loggers/logger.h>

namespace tightloop::train {

struct TensorBoardOptions {
  std::string folder = ".";  ///< where the event file goes; TensorBoard calls the run by it
  bool histograms = true;    ///< of parameters and buffers, each epoch
  std::int64_t images = 4;   ///< so many of the first validation inputs, where these are images
  bool graph = true;         ///< the parts of the model and what flows between them
};

/// An event file for TensorBoard, with
///
/// - scalars: train/loss, train/lr and the like of recorded steps; epoch/train_loss, epoch/validation_loss,
/// epoch/mae
///   and the like, all over the number of steps done;
/// - histograms: weights/<path>;
/// - images: input/0 and following; text: job; the graph of the model; hyperparameters with the metrics of
/// epochs.
///
/// A run that goes on from a checkpoint adds a file, which tells the reader what of the earlier one counts no
/// more, and repeats neither images nor graph.
class TensorBoard final : public Logger {
 public:
  explicit TensorBoard(TensorBoardOptions options);
  std::string name() const override { return "tensorboard"; }
  LoggerWants wants() const override { return {options_.histograms, options_.graph, options_.images, true}; }

  void start(const RunInfo& info) override;
  void steps(std::span<const StepRecord> records) override;
  void epoch(const EpochRecord& record, const Weights& weights) override;
  void rewind(std::int64_t step) override;
  void flush() override;
  void end(const History& history) override;

 private:
  void add(const std::string& event) { waiting_ += io::event_record(event); }
  void add_images(const Array& samples);
  void add_model(const std::vector<ModelPart>& model);

  TensorBoardOptions options_;
  AppendFile file_;
  std::string waiting_;
  io::EventSummary summary_;
  std::vector<std::string> step_tags_, metrics_;
};

}  // namespace tightloop::train
