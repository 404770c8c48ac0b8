// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/train/tune/moves/move.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::train::tune {

/// The moves of moves/index.def, in its order.
std::span<const MoveDef* const> all_moves();
/// Those named, in the order of the index; all when `names` is empty. Throws Error on an unknown name,
/// suggesting the nearest.
std::vector<const MoveDef*> chosen_moves(const std::vector<std::string>& names);

/// What each of them proposes.
std::vector<Proposed> proposals(const std::vector<const MoveDef*>& moves, const Situation& situation);

#define TIGHTLOOP_MOVE(name) const MoveDef& name##_move();
#include <tightloop/train/tune/moves/index.def>
#undef TIGHTLOOP_MOVE

}  // namespace tightloop::train::tune
