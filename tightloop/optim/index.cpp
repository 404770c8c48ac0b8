// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/index.h>

#include <fmt/format.h>

#include <array>

namespace tightloop::optim {

std::span<const OptimizerDef* const> all_optimizers() {
  static const auto optimizers = std::to_array<const OptimizerDef*>({
#define TIGHTLOOP_OPTIMIZER(name) &name##_def(),
#include <tightloop/optim/index.def>
#undef TIGHTLOOP_OPTIMIZER
  });
  return optimizers;
}

const OptimizerDef* find_optimizer(std::string_view name) {
  for (const OptimizerDef* def : all_optimizers())
    if (def->name == name) return def;
  return nullptr;
}

std::unique_ptr<Optimizer> make_optimizer(std::string_view name, const Options& given) {
  if (const OptimizerDef* def = find_optimizer(name))
    return def->build(resolve(fmt::format("optimizer {}", name), given, def->options));
  std::vector<std::string> names;
  for (const OptimizerDef* def : all_optimizers()) names.emplace_back(def->name);
  throw Error(fmt::format("unknown optimizer '{}'{}; known are {}", name, suggestion(name, names),
                          fmt::join(names, ", ")));
}

}  // namespace tightloop::optim
