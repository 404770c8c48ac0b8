// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

namespace tightloop::train::tune {
namespace {

constexpr std::int64_t kAutomaticAtFirst = 50;  ///< steps from one to the next that "auto" begins with

Proposal propose(const Situation& s) {
  if (s.job.train.loggers.empty()) return skip("the job has no loggers");
  const std::int64_t every = s.job.train.log_every;
  if (every < 0) return skip("log_every is \"auto\" already");
  if (every == 0 || every >= kAutomaticAtFirst) return skip("few steps are logged");
  return {{{"seldom, as \"auto\" does", {set("train.log_every", "\"auto\"")}}}};
}

}  // namespace

const MoveDef& logging_move() {
  static const MoveDef def{"logging", "steps from one that loggers get to the next", Effect::fewer, propose};
  return def;
}

}  // namespace tightloop::train::tune
