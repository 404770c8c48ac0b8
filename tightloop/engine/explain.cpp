// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/compile.h>
#include <tightloop/engine/explain.h>

namespace tightloop {

std::string llvm_text(const Program& program) { return backends::cpu::explain_cpu(program.graph()); }

std::string assembly_text(const Program& program) { return backends::cpu::assembly_cpu(program.graph()); }

}  // namespace tightloop
