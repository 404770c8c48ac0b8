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
  std::size_t data = 0;         ///< training and validation arrays, and the rows of a split
  std::size_t batches = 0;      ///< batches of streams, made ahead
  std::size_t states = 0;       ///< parameters, buffers, optimizer, sums
  std::size_t kept = 0;         ///< the states of the last chunk's start
  std::size_t temporaries = 0;  ///< buffers of the step and of the evaluation, results included
  std::int64_t steps_per_epoch = 0;
  std::size_t total() const { return data + batches + states + kept + temporaries; }
};

/// Compiles the job's step and evaluation and adds up what they will hold.
MemoryPlan plan_memory(PreparedJob& prepared);
/// The same for a step that is compiled already.
MemoryPlan plan_memory(const PreparedJob& prepared, const Session& session);

/// The same for batches of other sizes, without compiling again.
class MemoryPlanner {
 public:
  /// Compiles the job's step and evaluation. `prepared` must outlive it.
  explicit MemoryPlanner(PreparedJob& prepared);
  /// With batches of `batch` rows; more than the training rows are as many as there are.
  MemoryPlan at(std::int64_t batch) const;
  /// Rows of the largest batch that there is: the training rows.
  std::int64_t rows() const { return data_.train.count(); }
  /// The most rows of a batch whose plan holds at most `bytes`; 0 when one row takes more.
  std::int64_t largest_batch(std::size_t bytes) const;

 private:
  const PreparedJob& prepared_;
  Model model_;
  TrainingData data_;
  Session session_;
  std::optional<Evaluator> evaluator_;
};

/// Bytes that a new process can have: what the system has available, within the limit of the process's
/// control group where there is one.
std::size_t free_memory();

/// Paths of the parameters that take no part in the loss, and so stay as they began.
std::vector<std::string> idle_parameters(const PreparedJob& prepared);

/// Floating-point operations of one step: two for each multiply-add of a matrix product, one for each element
/// of an elementwise op and for each one reduced.
double step_flops(const ir::Graph& graph, const Sizes& sizes);

}  // namespace tightloop::train
