// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/job_run.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

/// The bytes that a training holds beside the program itself.
struct MemoryPlan {
  std::size_t data = 0;              ///< training and validation arrays, and the rows of a split
  std::size_t batches = 0;           ///< batches of streams, made ahead for training
  std::size_t states = 0;            ///< parameters, buffers, optimizer, sums
  std::size_t kept = 0;              ///< the states of the last chunk's start
  std::size_t temporaries = 0;       ///< buffers of the step and of the evaluation, results included
  std::size_t copies = 0;            ///< checkpoints that are being written, averages, the loggers' ring
  std::size_t program = 0;           ///< code, libraries and the compiler: measured here, or what is usual
  double recomputed = 0;             ///< arithmetic that computes values again, as a share of the step's rest
  std::int64_t steps_per_epoch = 0;  ///< 0 for batches of another size than the job's
  std::size_t total() const { return data + batches + states + kept + temporaries + copies + program; }
};

/// Compiles the job's step and evaluation and adds up what they will hold.
MemoryPlan plan_memory(PreparedJob& prepared);
/// The same for a step that is compiled already: without an evaluation, callbacks and the program.
MemoryPlan plan_memory(const PreparedJob& prepared, const Session& session);

/// What a training takes, without running it and without its native code.
class MemoryPlanner {
 public:
  /// Plans the job's step and evaluation. `prepared` must outlive it.
  explicit MemoryPlanner(PreparedJob& prepared);
  /// The same for a model: `data` as the run sees them; all but `options` must outlive it.
  MemoryPlanner(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                const Metrics& metrics, const TrainingData& data, TrainerOptions options);
  /// With batches of `batch` rows; more than the training rows are as many as there are. `evaluation`: rows
  /// of a batch of an evaluation, 0: as usual.
  MemoryPlan at(std::int64_t batch, std::int64_t evaluation = 0) const;
  /// Of `temporaries` what an evaluation by batches of `rows` takes.
  std::size_t evaluation_bytes(std::int64_t rows) const;
  const StepGraph& step() const { return step_.step(); }
  /// Rows of the largest batch that there is: the training rows.
  std::int64_t rows() const { return data_.train.count(); }
  /// The most rows of a batch whose plan holds at most `bytes`; 0 when one row takes more.
  std::int64_t largest_batch(std::size_t bytes) const;

 private:
  MemoryPlanner(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                const Metrics& metrics, TrainingData data, TrainerOptions options, bool code);
  friend MemoryPlan plan_memory(PreparedJob& prepared);

  Model model_;
  TrainingData data_;
  TrainerOptions options_;
  Sampling sampling_;
  BoundStep step_;
  std::optional<BoundStep> evaluation_;
};

/// Bytes of this process that are in memory now.
std::size_t resident_memory();
/// The memory of the machine, or what the process's control group may have of it.
std::size_t machine_memory();

/// Bytes that a new process can have: what the system has available, within the limit of the process's
/// control group where there is one.
std::size_t free_memory();

/// Paths of the parameters that take no part in the loss, and so stay as they began.
std::vector<std::string> idle_parameters(const PreparedJob& prepared);

/// Floating-point operations of one step: two for each multiply-add of a matrix product, one for each element
/// of an elementwise op and for each one reduced.
double step_flops(const ir::Graph& graph, const Sizes& sizes);

}  // namespace tightloop::train
