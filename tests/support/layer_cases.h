// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tests/support/cases.h>

namespace tightloop::testing {

/// The cases of every layer that a forward text may call: one tensor in, one out.
inline std::vector<Case> layer_cases() {
  std::vector<Case> out = read_cases("layers");
  for (const char* file : {"spatial_layers", "sequence_layers"})
    for (Case& c : read_cases(file)) out.push_back(std::move(c));
  return out;
}

}  // namespace tightloop::testing
