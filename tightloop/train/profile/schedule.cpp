// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/profile/schedule.h>

#include <fmt/format.h>
#include <limits>
#include <utility>

namespace tightloop::train {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

}  // namespace

void check(const ProfileSchedule& s) {
  constexpr std::int64_t most = 1'000'000'000;
  for (const auto& [name, value] :
       {std::pair{"skip_first", s.skip_first}, std::pair{"wait", s.wait}, std::pair{"warmup", s.warmup},
        std::pair{"active", s.active}, std::pair{"repeat", s.repeat}})
    if (value < 0 || value > most)
      throw Error(fmt::format("profile: {} must be from 0 to {}, not {}", name, most, value));
  if (s.active == 0) throw Error("profile: active must be at least 1 step, or nothing is profiled");
}

ProfileSchedule::Mode ProfileSchedule::mode(std::int64_t step) const {
  const std::int64_t cycle = wait + warmup + active;
  const std::int64_t at = step - skip_first;
  if (at < 0 || (repeat > 0 && at / cycle >= repeat)) return Mode::rest;
  const std::int64_t in = at % cycle;
  return in < wait ? Mode::rest : in < wait + warmup ? Mode::warmup : Mode::active;
}

std::int64_t ProfileSchedule::next_change(std::int64_t step) const {
  const std::int64_t cycle = wait + warmup + active;
  const std::int64_t at = step - skip_first;
  if (at < 0) return skip_first + (wait > 0 ? wait : 0);
  if (repeat > 0 && at / cycle >= repeat) return kNever;
  const std::int64_t begin = skip_first + at / cycle * cycle, in = at % cycle;
  if (in < wait) return begin + wait;
  if (in < wait + warmup) return begin + wait + warmup;
  return begin + cycle;
}

}  // namespace tightloop::train
