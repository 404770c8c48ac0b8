// SPDX-License-Identifier: Apache-2.0
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <tightloop/backends/cpu/codegen/generate.h>

#include <cstring>

namespace tightloop::backends::cpu {
namespace {

template <class T>
T expect(llvm::Expected<T> value, const char* what) {
  if (!value) throw Error(std::string(what) + ": " + llvm::toString(value.takeError()));
  return std::move(*value);
}

}  // namespace

struct Code::Linker {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

Code::Code(std::span<const char> objects, const Plan& plan) : linker_(std::make_unique<Linker>()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  linker_->jit = expect(llvm::orc::LLJITBuilder().create(), "cannot start the linker of generated code");
  while (!objects.empty()) {
    std::uint64_t size = 0;
    if (objects.size() < sizeof size) throw Error("generated code is cut short");
    std::memcpy(&size, objects.data(), sizeof size);
    objects = objects.subspan(sizeof size);
    if (size > objects.size()) throw Error("generated code is cut short");
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy({objects.data(), size}, "step");
    if (llvm::Error e = linker_->jit->addObjectFile(std::move(buffer)))
      throw Error("generated code cannot be linked: " + llvm::toString(std::move(e)));
    objects = objects.subspan(size);
  }
  Alike alike = find_alike(plan);
  for (std::size_t i = 0; i < alike.model.size(); ++i) {
    KernelFn function = nullptr;
    if (alike.model[i] != i)
      function = calls_[alike.model[i]].function;
    else if (is_generated(plan.schedule.kernels[i].kind))
      function =
          expect(linker_->jit->lookup(kernel_symbol(i)), "generated code lacks a kernel").toPtr<KernelFn>();
    calls_.push_back({function, std::move(alike.terms[i].values)});
  }
}

Code::~Code() = default;

}  // namespace tightloop::backends::cpu
