// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/optim/optimizer.h>

#include <vector>

namespace tightloop::testing {

/// The optimizers that are update rules: those but for what needs the loss over all rows.
inline std::vector<const optim::OptimizerDef*> update_rules() {
  std::vector<const optim::OptimizerDef*> out;
  for (const optim::OptimizerDef* def : optim::all_optimizers())
    if (!def->whole_data) out.push_back(def);
  return out;
}

}  // namespace tightloop::testing
