// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/error.h>
#include <tightloop/train/callbacks/index.h>

#include <fmt/format.h>

#include <array>

namespace tightloop::train {

std::span<const CallbackDef* const> all_callbacks() {
  static const auto callbacks = std::to_array<const CallbackDef*>({
#define TIGHTLOOP_CALLBACK(name) &name##_callback(),
#include <tightloop/train/callbacks/index.def>
#undef TIGHTLOOP_CALLBACK
  });
  return callbacks;
}

const CallbackDef* find_callback(std::string_view name) {
  for (const CallbackDef* def : all_callbacks())
    if (def->name == name) return def;
  return nullptr;
}

std::shared_ptr<Callback> make_callback(std::string_view name, const Options& given) {
  if (const CallbackDef* def = find_callback(name)) return def->build(resolve(name, given, def->options));
  std::vector<std::string> names;
  for (const CallbackDef* def : all_callbacks()) names.emplace_back(def->name);
  throw Error(fmt::format("unknown callback '{}'{}; known are {}", name, suggestion(name, names),
                          fmt::join(names, ", ")));
}

std::optional<optim::Direction> mode_of(std::string_view who, const Options& options) {
  if (!options.has("mode")) return {};
  const std::string& mode = options.at<std::string>("mode");
  if (mode != "min" && mode != "max")
    throw Error(fmt::format("{}: mode must be 'min' or 'max', not '{}'", who, mode));
  return mode == "min" ? optim::Direction::min : optim::Direction::max;
}

}  // namespace tightloop::train
