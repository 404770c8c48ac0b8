// SPDX-License-Identifier: Apache-2.0
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <tightloop/backends/cpu/codegen/generate.h>

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

Code::Code(std::span<const char> object, std::size_t kernels) : linker_(std::make_unique<Linker>()) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  linker_->jit = expect(llvm::orc::LLJITBuilder().create(), "cannot start the linker of generated code");
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy({object.data(), object.size()}, "step");
  if (llvm::Error e = linker_->jit->addObjectFile(std::move(buffer)))
    throw Error("generated code cannot be linked: " + llvm::toString(std::move(e)));
  for (std::size_t i = 0; i < kernels; ++i)
    kernels_.push_back(expect(linker_->jit->lookup(kernel_symbol(i)), "generated code lacks a kernel").toPtr<KernelFn>());
}

Code::~Code() = default;

}  // namespace tightloop::backends::cpu
