// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/tune/moves/index.h>

namespace tightloop::train::tune {
namespace {

Proposal propose(const Situation& s) {
  if (!has_key("train.deterministic")) return skip("this version has no train.deterministic");
  if (value_of(s.job, "train.deterministic") != "true") return skip("off already");
  return {{{"off", {set("train.deterministic", "false")}}}};
}

}  // namespace

const MoveDef& deterministic_move() {
  static const MoveDef def{"deterministic", "sums in any order", Effect::numbers, propose};
  return def;
}

}  // namespace tightloop::train::tune
