// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

#include <fmt/format.h>

namespace tightloop::train::tune {
namespace {

Proposal propose(const Situation& s) {
  if (s.job.data.drop_last) return skip("the short last batch is left out already");
  const std::int64_t rest = s.rows() % s.job.data.batch;
  if (rest == 0 || s.rows() < s.job.data.batch) return skip("there is no short last batch");
  if (!s.job.data.shuffle) return skip("without shuffling the same rows would be left out in each epoch");
  return {{{fmt::format("{} of {} rows left out of each epoch", rest, s.rows()),
            {set("data.drop_last", "true")}}}};
}

}  // namespace

const MoveDef& drop_last_move() {
  static const MoveDef def{"drop_last", "no short last batch", Effect::numbers, propose};
  return def;
}

}  // namespace tightloop::train::tune
