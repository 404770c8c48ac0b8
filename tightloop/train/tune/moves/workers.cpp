// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train::tune {
namespace {

Proposal propose(const Situation& s) {
  if (!s.part().is_stream()) return skip("the samples are in memory");
  std::vector<std::int64_t> counts{-1, 0, 1, 2};
  for (const std::int64_t more :
       {std::int64_t{s.cores} - 1, std::int64_t{s.cores}, 2 * std::int64_t{s.cores}})
    if (std::find(counts.begin(), counts.end(), more) == counts.end()) counts.push_back(more);
  Proposal out;
  for (const std::int64_t count : counts) {
    if (count == s.job.data.workers) continue;
    if (count < 0)
      out.variants.push_back({"as many as pay", {set("data.workers", "\"auto\"")}});
    else
      out.variants.push_back({fmt::format("{} workers", count), {set("data.workers", count)}});
  }
  return out;
}

}  // namespace

const MoveDef& workers_move() {
  static const MoveDef def{"workers", "threads that make the samples of a stream", Effect::none, propose};
  return def;
}

}  // namespace tightloop::train::tune
