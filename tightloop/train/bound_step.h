// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/mapped.h>
#include <tightloop/data/loader.h>
#include <tightloop/engine/program.h>
#include <tightloop/train/step.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

/// Rows of a data set, or samples of a stream: all, or those listed. With a window these are the first rows
/// of windows, and none may be left out: data::window_rows() gives them.
struct DataPart {
  data::Dataset data;                       ///< of a stream: one row of zeros, which shows names and types
  std::vector<std::int64_t> rows = {};      ///< empty: all
  std::optional<data::Window> window = {};  ///< a row stands for the rows of a window from it on
  std::vector<AliasEntry> weighted = {};    ///< by which training draws its rows; empty: each once
  /// What its samples go through. Left out for validation: what Transforms::evaluation() makes of the
  /// training's.
  std::optional<data::Transforms> transforms = {};
  std::shared_ptr<const data::Samples> samples = {};  ///< of a stream
  data::LoaderOptions loader = {};                    ///< of a stream

  bool is_stream() const { return samples != nullptr; }
  /// All rows, whatever `rows` lists.
  std::int64_t total() const { return is_stream() ? samples->size() : data.rows(); }
  std::int64_t count() const { return rows.empty() ? total() : static_cast<std::int64_t>(rows.size()); }
};

/// Samples that are made while they are trained on.
DataPart stream(std::shared_ptr<const data::Samples> samples, const data::LoaderOptions& loader = {});

/// The first `count` of the rows that `part` walks, each once.
DataPart first_rows(DataPart part, std::int64_t count);

/// What a step reads of `part`, whose rows come shuffled or not. Throws Error for rows and windows that are
/// not in the data, and for weights that are not one a row.
DataSpec walked(DataSpec data, const DataPart& part, bool shuffle = false);

/// How a part is walked in batches.
Sampling sampling_of(const DataPart& part, std::int64_t batch, bool shuffle = false, bool drop_last = false,
                     std::uint64_t seed = 0);

/// Begins to make the first batches of training, so that they are there when the step is compiled; null for
/// data in memory. `part` must outlive it.
std::unique_ptr<data::Loader> begin_loading(const DataPart& part, const Sampling& sampling);

/// A step graph compiled and bound to the data it reads: arrays as they lie, a stream batch by batch. `part`
/// must outlive it.
class BoundStep {
 public:
  /// `ahead`: of a stream, what begin_loading() began.
  BoundStep(StepGraph step, const DataPart& part, const CompileOptions& options,
            std::unique_ptr<data::Loader> ahead = nullptr);

  const StepGraph& step() const { return step_; }
  const DataPart& part() const { return part_; }
  Program& program() { return program_; }
  const Program& program() const { return program_; }

  /// How this part is walked in batches.
  Sampling sampling(std::int64_t batch, bool shuffle = false, bool drop_last = false,
                    std::uint64_t seed = 0) const;

  /// Allocates what batches of `sampling` need.
  void reserve(const Sampling& sampling);
  /// Runs `steps` steps from `first`. Throws Error for a sample of a stream that cannot be made.
  void run(const Sampling& sampling, std::int64_t first, std::int64_t steps);
  /// Makes the batch of a stream's step the one that is bound. The sampling by which the program sees the
  /// step: `sampling` itself when the data lies in memory.
  Sampling load(const Sampling& sampling, std::int64_t step);
  /// What the program's data input `field` is bound to.
  const Array& bound_data(const std::string& field) const;
  /// What messages call a row of the bound data: "row 7 (rows count from 1)", and the name of a stream's
  /// sample.
  std::string row_text(std::int64_t row) const;
  /// B and N of a full batch.
  Sizes sizes(const Sampling& sampling) const;
  /// Samples of a stream that were left out, by number: what was wrong.
  std::map<std::int64_t, std::string> skipped() const;
  /// Seconds that steps of a stream waited for their samples so far.
  double waited_s() const { return loader_ == nullptr ? 0 : loader_->waited_s(); }

  /// Sums back to 0, and "nothing bad seen".
  void reset();
  /// LossValue averages since reset(): Σ total / Σ weight. NaN when nothing was seen.
  double mean_loss();
  /// First step with a loss that is not finite since reset(), or -1.
  std::int64_t bad_step();
  /// Throws Error with the row and the value when the data broke a rule since reset(), and naming the file
  /// when one that the data are mapped from changed.
  void check_data();
  /// The latter by a look at all files; check_data() looks at most five times a second.
  void check_files();

 private:
  void bind_batch(const data::LoadedBatch& batch);
  /// Views of the states that every epoch looks at, taken when all else is bound.
  void find_states();

  StepGraph step_;
  const DataPart& part_;
  Program program_;
  std::vector<std::pair<std::size_t, std::string>> data_inputs_;  ///< number in the program, field
  std::unique_ptr<data::Loader> loader_;                          ///< of a stream, from the first batch on
  data::LoadedBatch batch_;                                       ///< of a stream, what is bound
  MappedFiles files_;                                             ///< that the data are mapped from
  std::vector<Array> sums_;                                       ///< back to 0 by reset()
  Array loss_sum_, weight_sum_, bad_step_;
  std::vector<Array> check_rows_, check_values_;
};

}  // namespace tightloop::train
