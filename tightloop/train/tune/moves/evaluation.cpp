// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

#include <fmt/format.h>
#include <algorithm>

namespace tightloop::train::tune {
namespace {

constexpr std::int64_t kLeastEvaluations = 10;

/// What acts on the validations of the run, and so must see as many.
std::string watcher(const Situation& s) {
  for (const auto& [name, value] : s.job.train.callbacks)
    if (name == "early_stopping" || name == "stop_at" || name == "checkpoint") return "train." + name;
  const auto& schedule = s.prepared.options.update.schedule;
  if (schedule != nullptr && schedule->plateau() != nullptr) return "reduce_on_plateau";
  return "";
}

Proposal propose(const Situation& s) {
  if (!s.prepared.data.data.validation) return skip("the job has no validation rows");
  const std::string who = watcher(s);
  if (!who.empty()) return skip(who + " looks at each validation");
  const std::int64_t now = s.job.train.evaluate_every, most = s.job.train.epochs / kLeastEvaluations;
  Proposal out{.ladder = true};
  for (const std::int64_t factor : {2, 5, 10, 20, 50, 100, 200, 500, 1000})
    if (now * factor <= most)
      out.variants.push_back(
          {fmt::format("every {} epochs", now * factor), {set("train.evaluate_every", now * factor)}});
  if (out.variants.empty())
    return skip(fmt::format("the run has {} validations, and {} at least are left to it",
                            (s.job.train.epochs + now - 1) / now, kLeastEvaluations));
  return out;
}

}  // namespace

const MoveDef& evaluation_move() {
  static const MoveDef def{"evaluation", "epochs from one validation to the next", Effect::fewer, propose};
  return def;
}

}  // namespace tightloop::train::tune
