// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

namespace tightloop::train::tune {
namespace {

Proposal propose(const Situation& s) {
  if (!has_key("train.recompute")) return skip("this version has no train.recompute");
  const std::string now = value_of(s.job, "train.recompute");
  if (now.empty() || now == "\"none\"") return skip("nothing is recomputed");
  if (!value_of(s.job, "train.memory").empty()) return skip("train.memory says what the training may take");
  return {{{"nothing computed twice", {set("train.recompute", "\"none\"")}}}};
}

}  // namespace

const MoveDef& recompute_move() {
  static const MoveDef def{"recompute", "values kept for the backward pass, not computed again", Effect::none,
                           propose};
  return def;
}

}  // namespace tightloop::train::tune
