// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/tune/moves/index.h>

#include <fmt/format.h>
#include <algorithm>
#include <array>

namespace tightloop::train::tune {

std::span<const MoveDef* const> all_moves() {
  static const auto moves = std::to_array<const MoveDef*>({
#define TIGHTLOOP_MOVE(name) &name##_move(),
#include <tightloop/train/tune/moves/index.def>
#undef TIGHTLOOP_MOVE
  });
  return moves;
}

std::vector<const MoveDef*> chosen_moves(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const MoveDef* move : all_moves()) known.emplace_back(move->name);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(fmt::format("unknown move '{}'{}; known are {}", name, suggestion(name, known),
                              fmt::join(known, ", ")));
  std::vector<const MoveDef*> out;
  for (const MoveDef* move : all_moves())
    if (names.empty() || std::find(names.begin(), names.end(), move->name) != names.end())
      out.push_back(move);
  return out;
}

std::vector<Proposed> proposals(const std::vector<const MoveDef*>& moves, const Situation& situation) {
  std::vector<Proposed> out;
  for (const MoveDef* move : moves)
    out.push_back({std::string(move->name), move->effect, move->propose(situation)});
  return out;
}

}  // namespace tightloop::train::tune
