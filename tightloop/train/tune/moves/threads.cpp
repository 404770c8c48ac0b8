// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

#include <fmt/format.h>

namespace tightloop::train::tune {
namespace {

Proposal propose(const Situation& s) {
  if (s.cores == 1) return skip("there is one core");
  const std::int64_t now = s.job.train.threads;
  Proposal out;
  for (std::int64_t threads = 1; threads < s.cores; threads *= 2)
    if (threads != now)
      out.variants.push_back({fmt::format("at most {}", threads), {set("train.threads", threads)}});
  if (now != 0 && now != s.cores)
    out.variants.push_back({"as many as cores", {set("train.threads", std::int64_t{0})}});
  return out;
}

}  // namespace

const MoveDef& threads_move() {
  static const MoveDef def{"threads", "how many threads a step may use", Effect::none, propose};
  return def;
}

}  // namespace tightloop::train::tune
