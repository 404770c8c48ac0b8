// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

#include <fmt/format.h>

namespace tightloop::train::tune {
namespace {

constexpr std::int64_t kLeastBatch = 16;

Variant of(const Situation& s, std::int64_t batch, std::int64_t accumulate) {
  Settings sets = with_batch(s.job, batch);
  sets.push_back(set("train.accumulate", accumulate));
  if (accumulate == 1) return {fmt::format("off: batches of {}", batch), std::move(sets)};
  return {fmt::format("{} batches of {}", accumulate, batch), std::move(sets)};
}

/// The rows of an update stay as many as they are.
Proposal propose(const Situation& s) {
  const std::string bound = batch_is_bound(s.job);
  if (!bound.empty()) return skip(bound);
  const std::int64_t batch = s.job.data.batch, now = s.job.train.accumulate;
  if (batch >= s.rows()) return skip("an epoch is one batch");
  Proposal out{.ladder = true};
  if (now > 1) {
    if (batch * now <= s.rows()) out.variants.push_back(of(s, batch * now, 1));
    return out.variants.empty() ? skip("an update takes more than the rows of an epoch") : out;
  }
  for (const std::int64_t parts : {4, 16, 64})
    if (batch % parts == 0 && batch / parts >= kLeastBatch)
      out.variants.push_back(of(s, batch / parts, parts));
  return out.variants.empty() ? skip("the batch is small") : out;
}

}  // namespace

const MoveDef& accumulation_move() {
  static const MoveDef def{"accumulation", "the rows of an update in one batch, or in several",
                           Effect::numbers, propose};
  return def;
}

}  // namespace tightloop::train::tune
