// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/base/alias.h>

#include <cstdint>

namespace tightloop {

/// Which rows each step sees. Rows of one epoch are a permutation of `rows` (identity unless `shuffle`), or
/// as many draws with replacement (`weighted`), dealt out to `ranks` processes and cut into batches; the
/// short last batch is kept unless `drop_last`. A pure function of its members and the step: nothing depends
/// on what ran before.
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
  /// When not null: the alias table [rows] (base/alias.h) that every position of an epoch draws its row from.
  const AliasEntry* weighted = nullptr;
  /// This process is `rank` of `ranks`: it sees positions rank, rank + ranks, … of the epoch's order.
  std::int64_t rank = 0;
  std::int64_t ranks = 1;
  /// All ranks see the same number of rows, so that training ends together: the first positions are seen
  /// again at the end, or with drop_last the last ones are left out. False: each row once, as evaluation
  /// wants it, so that ranks may differ by a row.
  bool even = true;

  struct Batch {
    std::int64_t epoch;
    std::int64_t first;  ///< position inside this rank's part of the epoch's order
    std::int64_t size;
  };

  /// Rows that this rank sees in a pass.
  std::int64_t count() const {
    const std::int64_t left = even ? (drop_last ? 0 : ranks - 1) : ranks - 1 - rank;
    return (rows + left) / ranks;
  }
  std::int64_t steps_per_pass() const { return drop_last ? count() / batch : (count() + batch - 1) / batch; }
  std::int64_t steps_per_epoch() const { return steps_per_pass() * passes; }
  Batch at(std::int64_t step) const;
  /// Writes the row indices of batch `b` to `out` (b.size of them). Vectorised; allocates nothing.
  void fill(const Batch& b, std::int64_t* out) const;
};

/// Position `i` of the pseudo-random permutation of [0, n) that (seed, epoch) name: a 4-round Feistel
/// network over the smallest rectangle a·b ≥ n, walked until it lands inside.
std::int64_t permuted(std::int64_t i, std::int64_t n, std::uint64_t seed, std::int64_t epoch);

}  // namespace tightloop
