// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/program.h>
#include <tightloop/train/step.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

/// Rows of a data set: all, or those listed. With a window these are the first rows of windows, and none may
/// be left out: data::window_rows() gives them.
struct DataPart {
  data::Dataset data;
  std::vector<std::int64_t> rows = {};      ///< empty: all
  std::optional<data::Window> window = {};  ///< a row stands for the rows of a window from it on
  std::vector<AliasEntry> weighted = {};    ///< by which training draws its rows; empty: each once
  /// What its samples go through. Left out for validation: what Transforms::evaluation() makes of the
  /// training's.
  std::optional<data::Transforms> transforms = {};

  std::int64_t count() const { return rows.empty() ? data.rows() : static_cast<std::int64_t>(rows.size()); }
};

/// What a step reads of `part`, whose rows come shuffled or not. Throws Error for rows and windows that are
/// not in the data, and for weights that are not one a row.
DataSpec walked(DataSpec data, const DataPart& part, bool shuffle = false);

/// A step graph compiled and bound to the data it reads. `part` must outlive it.
class BoundStep {
 public:
  BoundStep(StepGraph step, const DataPart& part, const CompileOptions& options);

  const StepGraph& step() const { return step_; }
  const DataPart& part() const { return part_; }
  Program& program() { return program_; }
  const Program& program() const { return program_; }

  /// How this part is walked in batches.
  Sampling sampling(std::int64_t batch, bool shuffle = false, bool drop_last = false,
                    std::uint64_t seed = 0) const;

  /// Sums back to 0, and "nothing bad seen".
  void reset();
  /// LossValue averages since reset(): Σ total / Σ weight. NaN when nothing was seen.
  double mean_loss();
  /// First step with a loss that is not finite since reset(), or -1.
  std::int64_t bad_step();
  /// Throws Error with the row and the value when the data broke a rule since reset().
  void check_data();

 private:
  /// Views of the states that every epoch looks at, taken when all else is bound.
  void find_states();

  StepGraph step_;
  const DataPart& part_;
  Program program_;
  std::vector<Array> sums_;  ///< back to 0 by reset()
  Array loss_sum_, weight_sum_, bad_step_;
  std::vector<Array> check_rows_, check_values_;
};

}  // namespace tightloop::train
