// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

#include <fmt/format.h>

namespace tightloop::train::tune {
namespace {

Proposal propose(const Situation& s) {
  if (!s.part().is_stream()) return skip("the samples are in memory");
  if (s.job.data.workers == 0) return skip("without workers nothing is made ahead");
  Proposal out;
  for (const std::int64_t batches : {std::int64_t{1}, std::int64_t{4}, std::int64_t{8}})
    if (batches != s.job.data.prefetch)
      out.variants.push_back({fmt::format("{} batch{} ahead", batches, batches == 1 ? "" : "es"),
                              {set("data.prefetch", batches)}});
  return out;
}

}  // namespace

const MoveDef& prefetch_move() {
  static const MoveDef def{"prefetch", "batches that each worker makes ahead", Effect::none, propose};
  return def;
}

}  // namespace tightloop::train::tune
