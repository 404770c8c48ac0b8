// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train::tune {
namespace {

/// A key that says how often, and what it says now.
struct Interval {
  std::string key;
  std::string unit;
  std::int64_t now = 1;
};

std::vector<Interval> intervals_of(const Value& checkpoint) {
  if (const auto* epochs = checkpoint.as<std::int64_t>()) return {{"train.checkpoint", "epochs", *epochs}};
  std::vector<Interval> out;
  for (const char* unit : {"epochs", "steps"})
    if (const Value* v = checkpoint.find(std::string("every_") + unit); v != nullptr)
      if (const auto* n = v->as<std::int64_t>(); n != nullptr && *n > 0)
        out.push_back({fmt::format("train.checkpoint.every_{}", unit), unit, *n});
  if (out.empty() && checkpoint.as<Value::Table>() != nullptr && checkpoint.find("every_minutes") == nullptr)
    out.push_back({"train.checkpoint.every_epochs", "epochs", 1});
  return out;
}

Proposal propose(const Situation& s) {
  const auto& callbacks = s.job.train.callbacks;
  const auto found =
      std::find_if(callbacks.begin(), callbacks.end(), [](const auto& c) { return c.first == "checkpoint"; });
  if (found == callbacks.end()) return skip("the job asks for no checkpoints");
  const std::vector<Interval> intervals = intervals_of(found->second);
  if (intervals.size() != 1) return skip("checkpoints come by the clock, or by several counts");
  const Interval& i = intervals[0];
  Proposal out{.ladder = true};
  for (const std::int64_t factor : {5, 25, 125})
    if (i.unit != "epochs" || i.now * factor <= s.job.train.epochs / 2)
      out.variants.push_back(
          {fmt::format("every {} {}", i.now * factor, i.unit), {set(i.key, i.now * factor)}});
  return out.variants.empty() ? skip("the run has few of them") : out;
}

}  // namespace

const MoveDef& checkpoints_move() {
  static const MoveDef def{"checkpoints", "from one checkpoint to the next", Effect::fewer, propose};
  return def;
}

}  // namespace tightloop::train::tune
