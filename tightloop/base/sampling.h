// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

namespace tightloop {

/// Which rows each step sees. Rows of one epoch are a permutation of `rows` (identity unless `shuffle`)
/// cut into batches; the short last batch is kept unless `drop_last`. A pure function of its
/// members and the step: nothing depends on what ran before.
struct Sampling {
  std::int64_t rows = 1;   ///< rows of the data set (N)
  std::int64_t batch = 1;  ///< rows of a full batch
  bool shuffle = false;
  bool drop_last = false;
  std::uint64_t seed = 0;
  /// When not null: the rows to draw from are order[0 .. rows), e.g. the training part of a split.
  const std::int64_t* subset = nullptr;
  /// Rows of the arrays that the indices point into; 0 means `rows` (no subset).
  std::int64_t data_rows = 0;
  /// How often an epoch goes through the rows. More than once where they are a buffer that holds other
  /// samples each time (data/loader.h).
  std::int64_t passes = 1;

  struct Batch {
    std::int64_t epoch;
    std::int64_t first;  ///< position inside the epoch's permutation
    std::int64_t size;
  };

  std::int64_t steps_per_pass() const { return drop_last ? rows / batch : (rows + batch - 1) / batch; }
  std::int64_t steps_per_epoch() const { return steps_per_pass() * passes; }
  Batch at(std::int64_t step) const;
  /// Writes the row indices of batch `b` to `out` (b.size of them). Vectorised; allocates nothing.
  void fill(const Batch& b, std::int64_t* out) const;
};

/// Position `i` of the pseudo-random permutation of [0, n) that (seed, epoch) name: a 4-round Feistel
/// network over the smallest rectangle a·b ≥ n, walked until it lands inside.
std::int64_t permuted(std::int64_t i, std::int64_t n, std::uint64_t seed, std::int64_t epoch);

}  // namespace tightloop
