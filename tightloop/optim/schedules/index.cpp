// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/schedules/index.h>

#include <fmt/format.h>

#include <array>

namespace tightloop::optim {

std::span<const ScheduleDef* const> all_schedules() {
  static const auto schedules = std::to_array<const ScheduleDef*>({
#define TIGHTLOOP_SCHEDULE(name) &name##_schedule(),
#include <tightloop/optim/schedules/index.def>
#undef TIGHTLOOP_SCHEDULE
  });
  return schedules;
}

const ScheduleDef* find_schedule(std::string_view name) {
  for (const ScheduleDef* def : all_schedules())
    if (def->name == name) return def;
  return nullptr;
}

SchedulePtr make_schedule(std::string_view name, const Options& given) {
  if (const ScheduleDef* def = find_schedule(name))
    return def->build(resolve(fmt::format("schedule {}", name), given, def->options));
  std::vector<std::string> names;
  for (const ScheduleDef* def : all_schedules()) names.emplace_back(def->name);
  throw Error(fmt::format("unknown schedule '{}'{}; known are {}", name, suggestion(name, names),
                          fmt::join(names, ", ")));
}

}  // namespace tightloop::optim
