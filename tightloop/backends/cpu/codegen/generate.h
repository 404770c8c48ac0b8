// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/codegen/alike.h>
#include <tightloop/backends/cpu/codegen/target.h>
#include <tightloop/backends/cpu/plan/plan.h>
#include <tightloop/backends/cpu/runtime/context.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tightloop::backends::cpu {

/// Changes whenever generated code may change for the same graph; part of the disk cache's key.
inline constexpr int kCodeVersion = 14;

/// Version of the compiler behind generate_object.
std::string compiler_version();

/// Native code of every kernel of the plan: object files, one after the other, each behind its length (8
/// bytes). Kernel i is the symbol kernel_symbol(i) of one of them, or that of the first kernel like it
/// (alike.h). They are made side by side on up to `threads` threads.
std::vector<char> generate_objects(const Plan& plan, const Target& target, int threads);
/// LLVM IR of the same, as text.
std::string generate_text(const Plan& plan, const Target& target);
/// Assembly of the same, as text.
std::string generate_assembly(const Plan& plan, const Target& target);
std::string kernel_symbol(std::size_t i);

/// Object files in memory, ready to run.
class Code {
 public:
  /// Throws Error when `objects` is not what generate_objects makes on this machine for this plan.
  Code(std::span<const char> objects, const Plan& plan);
  ~Code();
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  /// Runs kernel i; nothing happens when it is not generated.
  void call(std::size_t i, const StepContext* context, std::int64_t part, std::int64_t parts) const {
    if (const Call& c = calls_[i]; c.function != nullptr) c.function(context, part, parts, c.terms.data());
  }

 private:
  struct Linker;
  std::unique_ptr<Linker> linker_;
  struct Call {
    KernelFn function;
    std::vector<std::int64_t> terms;
  };
  std::vector<Call> calls_;
};

}  // namespace tightloop::backends::cpu
