// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/loggers/index.h>

#include <fmt/format.h>

#include <array>

namespace tightloop::train {

std::span<const LoggerDef* const> all_loggers() {
  static const auto loggers = std::to_array<const LoggerDef*>({
#define TIGHTLOOP_LOGGER(name) &name##_logger(),
#include <tightloop/train/loggers/index.def>
#undef TIGHTLOOP_LOGGER
  });
  return loggers;
}

std::shared_ptr<Logger> make_logger(std::string_view name, const Options& given, const std::string& folder) {
  std::vector<std::string> names;
  for (const LoggerDef* def : all_loggers()) {
    if (def->name == name)
      return def->build(resolve(fmt::format("logger {}", name), given, def->options), folder);
    names.emplace_back(def->name);
  }
  throw Error(fmt::format("unknown logger '{}'{}; known are {}", name, suggestion(name, names),
                          fmt::join(names, ", ")));
}

}  // namespace tightloop::train
