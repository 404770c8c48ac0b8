// SPDX-License-Identifier: Apache-2.0
#include <tightloop/optim/index.h>
#include <tightloop/optim/slot_code.h>

#include <fmt/format.h>

#include <array>

namespace tightloop::optim {
namespace {

/// What every optimizer takes.
OptionSpec state_option() {
  return {"state", OptionType::text, std::string("f32"), "f32, bf16 or int8: how its slots are kept"};
}

}  // namespace

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
  if (const OptimizerDef* def = find_optimizer(name)) {
    const std::string owner = fmt::format("optimizer {}", name);
    std::vector<OptionSpec> specs = def->options;
    specs.push_back(state_option());
    const Options resolved = resolve(owner, given, specs);
    auto out = def->build(resolved);
    out->set_slot_type(slot_type(resolved.at<std::string>("state"), owner), owner);
    return out;
  }
  std::vector<std::string> names;
  for (const OptimizerDef* def : all_optimizers()) names.emplace_back(def->name);
  throw Error(fmt::format("unknown optimizer '{}'{}; known are {}", name, suggestion(name, names),
                          fmt::join(names, ", ")));
}

}  // namespace tightloop::optim
