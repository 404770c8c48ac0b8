// SPDX-License-Identifier: Apache-2.0
#include <tightloop/passes/index.h>

#include <algorithm>
#include <array>

namespace tightloop::passes {

std::span<const ir::Pass> all_passes() {
  static constexpr auto passes = std::to_array<ir::Pass>({
#define TIGHTLOOP_PASS(name) {#name, name},
#include <tightloop/passes/index.def>
#undef TIGHTLOOP_PASS
  });
  return passes;
}

const ir::Pass* find_pass(std::string_view name) {
  const auto passes = all_passes();
  const auto found =
      std::find_if(passes.begin(), passes.end(), [&](const ir::Pass& p) { return p.name == name; });
  return found == passes.end() ? nullptr : &*found;
}

}  // namespace tightloop::passes
