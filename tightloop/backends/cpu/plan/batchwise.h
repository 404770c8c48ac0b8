// SPDX-License-Identifier: Apache-2.0
#pragma once
// The batch as the axis of parallel work. A value is *batchwise* when its rows of one sample need nothing but
// the same sample's rows of whatever it reads: then a thread can take a stretch of the batch through a whole
// chain of kernels, in its own cache and without waiting for anybody. What ends such a chain is a sum over
// the batch (a loss, the gradient of a weight). Those are cut in two: one sum for each *group* of samples,
// which is batchwise again, and a sum over the groups.
#include <tightloop/ir/graph.h>

#include <unordered_set>

namespace tightloop::backends::cpu {

/// Samples are grouped by the size of the batch alone, so that the order of additions, and with it every bit,
/// is the same for any number of threads.
struct Groups {
  std::int64_t rows = 0;  ///< samples in every group but the last, which may have fewer
  std::int64_t count = 1;
};
Groups groups_of(std::int64_t batch, std::int64_t stretch);
/// The most groups that a batch of this size or a smaller one has.
std::int64_t most_groups(std::int64_t batch, std::int64_t stretch);

/// Samples that a thread takes through a chain at a time: few enough for their values to stay in its cache,
/// enough for a weight that is loaded to be used often. Less where each sample uses its weights many times
/// itself, as the steps of a sequence do: small batches then are work for several threads too.
std::int64_t stretch_of(const ir::Graph& graph);
inline constexpr std::int64_t kLongStretch = 64;
inline constexpr std::int64_t kShortStretch = 16;

/// Whether a dim of `shape` is the batch, or a multiple of it.
bool carries_batch(const Shape& shape);
/// Whether that dim is the first, dims of 1 aside: samples lie one after the other in memory.
bool leads_with_batch(const Shape& shape);
/// Whether `root` is batchwise, as far as the kernel that computes it is concerned: other roots are read from
/// memory, what stands between is computed on the spot.
bool is_batchwise(const ir::Node* root, const std::unordered_set<const ir::Node*>& roots);

/// A sum over the samples of each group: [groups, what the sum over the batch would be].
bool is_group_sum(const ir::Node* n);

/// Sums over the batch become a sum of each group and a sum over the groups, where the results are small
/// enough for that to pay.
ir::Graph split_batch_sums(const ir::Graph& graph);

}  // namespace tightloop::backends::cpu
