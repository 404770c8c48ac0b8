// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/pass.h>

namespace tightloop::passes {

/// What every graph goes through before a backend gets it, in order. See pipeline.cpp for why.
std::span<const ir::Pass> pipeline();

}  // namespace tightloop::passes
