// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/program.h>

#include <string>

namespace tightloop {

/// LLVM IR of the kernels that a compiled program has, as text; made again, so it takes as long as compiling.
std::string llvm_text(const Program& program);
/// Their assembly for this machine.
std::string assembly_text(const Program& program);

}  // namespace tightloop
