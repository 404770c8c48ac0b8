// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/plan.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tightloop::train {

/// What "2GB", "512 MiB", "1500000000" or "50%" of the machine's memory (machine_memory()) means, in bytes:
/// kB to TB are powers of 1000, KiB to TiB of 1024. Throws Error in the name of `who`.
std::size_t memory_bytes(const std::string& text, const std::string& who);
/// "1.35 GB"
std::string memory_size(std::size_t bytes);

/// How a training keeps within a budget.
struct MemoryChoice {
  std::size_t budget = 0;
  std::int64_t batch = 0;       ///< rows of a step
  std::int64_t parts = 1;       ///< steps that the rows of the given batch are shared out to,
  bool one_update = true;       ///< whose gradients make one update; false: no step makes one (lbfgs)
  std::int64_t evaluation = 0;  ///< rows of a batch of an evaluation; 0: as usual
  Recompute recompute = {};
  MemoryPlan plan = {};
  double cost = 0;                ///< about, of a step's arithmetic: what it costs beside the unbound step
  bool batch_statistics = false;  ///< a normalisation by the batch sees the smaller batches

  /// One line for people.
  std::string text() const;
};

/// The cheapest way to take at most `options.memory` bytes: the step as it is; values computed again; the
/// batch in equal parts, whose gradients make one update. Parts come last where a net normalises by the
/// batch, since they are other batches to it. Throws Error with the least that would do.
MemoryChoice fit_memory(const Model& model, const nn::LossFn& loss, const optim::Optimizer& optimizer,
                        const Metrics& metrics, const TrainingData& data, const TrainerOptions& options);

MemoryChoice fit_memory(PreparedJob& prepared);

/// Makes it so, and `memory` 0. What counts steps or batches counts as many more.
void apply(const MemoryChoice& choice, TrainerOptions& options);

}  // namespace tightloop::train
