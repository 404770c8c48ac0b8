// SPDX-License-Identifier: Apache-2.0
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>
#include <tightloop/backends/cpu/codegen/generate.h>
#include <tightloop/backends/cpu/codegen/kernels.h>

#include <algorithm>
#include <future>
#include <mutex>

namespace tightloop::backends::cpu {
namespace {

void initialize_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    // The loops come out with the addressing they should have; looking for better takes a fifth of the time.
    // (A switch of the whole process.)
    auto& options = llvm::cl::getRegisteredOptions();
    if (const auto lsr = options.find("disable-lsr"); lsr != options.end())
      static_cast<llvm::cl::opt<bool>*>(lsr->second)->setValue(true);
  });
}

Target read_host() {
  Target t;
  t.triple = llvm::sys::getProcessTriple();
  const auto host = llvm::sys::getHostCPUFeatures();
  const auto has = [&](llvm::StringRef f) { return host.lookup(f); };
  std::vector<std::string> enabled;
  for (const auto& entry : host)
    if (entry.getValue()) enabled.push_back("+" + entry.getKey().str());
  std::sort(enabled.begin(), enabled.end());
  for (const std::string& f : enabled) t.features += (t.features.empty() ? "" : ",") + f;
  const llvm::Triple triple(t.triple);
  if (triple.isAArch64()) {
    t.cpu = "generic";
    t.vector_registers = 32;
  } else if (has("avx512f") && has("avx512bw") && has("avx512vl") && has("avx512dq")) {
    t.cpu = "x86-64-v4";
    t.features += ",-prefer-256-bit";
    t.vector_bytes = 64;
    t.masks = true;
    t.avx512 = true;
    t.vector_registers = 32;
  } else if (has("avx2") && has("fma")) {
    t.cpu = "x86-64-v3";
    t.vector_bytes = 32;
  } else {
    t.cpu = triple.getArch() == llvm::Triple::x86_64 ? "x86-64" : "generic";
  }
  return t;
}

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target) {
  initialize_llvm();
  std::string problem;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, problem);
  if (found == nullptr) throw InternalError("LLVM does not know this machine: " + problem);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(
      found->createTargetMachine(target.triple, target.cpu, target.features, options, llvm::Reloc::PIC_,
                                 llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
}

/// What is made into code.
struct Input {
  const Plan& plan;
  const Target& target;
  Alike alike;
  SharedFunctions shared = {};
};

void emit_kernel(llvm::Module& module, Input& input, std::size_t i) {
  const Kernel& kernel = input.plan.schedule.kernels[i];
  KernelBuilder k(module, input.plan, input.target, kernel, input.alike.terms[i], input.shared,
                  kernel_symbol(i));
  switch (kernel.kind) {
    case KernelKind::elementwise:
      emit_elementwise(k);
      break;
    case KernelKind::reduce:
      emit_reduce(k);
      break;
    case KernelKind::matmul:
      emit_matmul(k);
      break;
    case KernelKind::scatter:
      emit_scatter(k);
      break;
    case KernelKind::transpose:
      emit_transpose(k);
      break;
    case KernelKind::library:
    case KernelKind::assembly:
    case KernelKind::window:
      break;
  }
  k.finish();
}

void optimize(llvm::Module& module) {
  llvm::FunctionAnalysisManager analyses;
  llvm::PassBuilder builder;
  builder.registerFunctionAnalyses(analyses);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::PromotePass());
  passes.addPass(llvm::EarlyCSEPass());
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) passes.run(f, analyses);
}

std::unique_ptr<llvm::Module> make_module(llvm::LLVMContext& context, Input& input,
                                          const llvm::TargetMachine& machine,
                                          const std::vector<std::size_t>& kernels) {
  auto module = std::make_unique<llvm::Module>("step", context);
  module->setTargetTriple(input.target.triple);
  module->setDataLayout(machine.createDataLayout());
  for (const std::size_t i : kernels) emit_kernel(*module, input, i);
#ifndef NDEBUG
  std::string problem;
  llvm::raw_string_ostream out(problem);
  if (llvm::verifyModule(*module, &out)) throw InternalError("generated code is not well-formed: " + problem);
#endif
  optimize(*module);
  return module;
}

/// One of each kind of alike kernels; none of the library's.
std::vector<std::size_t> kernels_to_emit(Input& input) {
  std::vector<std::size_t> kernels;
  for (std::size_t i = 0; i < input.alike.model.size(); ++i)
    if (input.alike.model[i] == i && is_generated(input.plan.schedule.kernels[i].kind)) kernels.push_back(i);
  return kernels;
}

using Object = llvm::SmallVector<char, 0>;

Object make_file(Input& input, const std::vector<std::size_t>& kernels, llvm::CodeGenFileType type) {
  const auto machine = make_machine(input.target);
  llvm::LLVMContext context;
  const auto module = make_module(context, input, *machine, kernels);
  Object object;
  llvm::raw_svector_ostream out(object);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr, type))
    throw InternalError("LLVM cannot write code for this machine");
  passes.run(*module);
  return object;
}

Object make_object(Input& input, const std::vector<std::size_t>& kernels) {
  return make_file(input, kernels, llvm::CodeGenFileType::ObjectFile);
}

/// Kernels dealt out so that each share takes about as long to compile.
std::vector<std::vector<std::size_t>> shares_of(Input& input, std::size_t count) {
  std::vector<std::vector<std::size_t>> shares(count);
  std::vector<double> load(count, 0);
  for (const std::size_t i : kernels_to_emit(input)) {
    const Kernel& k = input.plan.schedule.kernels[i];
    const double own = k.kind == KernelKind::reduce ? 4 : k.kind == KernelKind::matmul ? 3 : 2;
    const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    shares[least].push_back(i);
    load[least] += own + 0.5 * static_cast<double>(k.roots.size());
  }
  std::erase_if(shares, [](const auto& s) { return s.empty(); });
  return shares;
}

}  // namespace

const Target& host_target() {
  static const Target target = read_host();
  return target;
}

Target narrowed(const Target& host, int vector_bytes) {
  if (vector_bytes == 0 || vector_bytes >= host.vector_bytes) return host;
  Target t = host;
  t.vector_bytes = vector_bytes;
  t.masks = t.avx512 = false;
  if (!llvm::Triple(t.triple).isX86()) return t;
  t.cpu = vector_bytes == 32 ? "x86-64-v3" : "x86-64-v2";
  t.features = "";
  t.vector_registers = 16;
  return t;
}

std::string compiler_version() { return LLVM_VERSION_STRING; }

std::string kernel_symbol(std::size_t i) { return "kernel" + std::to_string(i); }

std::vector<char> generate_objects(const Plan& plan, const Target& target, int threads) {
  initialize_llvm();
  constexpr std::size_t kKernelsToShare = 6;
  Input input{plan, target, find_alike(plan)};
  const std::size_t pieces = kernels_to_emit(input).size() < kKernelsToShare
                                 ? 1
                                 : static_cast<std::size_t>(std::clamp(threads, 1, 4));
  const auto shares = shares_of(input, pieces);
  std::vector<std::future<Object>> others;
  for (std::size_t i = 1; i < shares.size(); ++i)
    others.push_back(std::async(std::launch::async, [&, i] { return make_object(input, shares[i]); }));
  std::vector<Object> objects;
  if (!shares.empty()) objects.push_back(make_object(input, shares[0]));
  for (auto& o : others) objects.push_back(o.get());
  std::vector<char> out;
  for (const Object& o : objects) {
    const std::uint64_t size = o.size();
    const char* bytes = reinterpret_cast<const char*>(&size);
    out.insert(out.end(), bytes, bytes + sizeof size);
    out.insert(out.end(), o.begin(), o.end());
  }
  return out;
}

std::string generate_text(const Plan& plan, const Target& target) {
  const auto machine = make_machine(target);
  llvm::LLVMContext context;
  Input input{plan, target, find_alike(plan)};
  const auto module = make_module(context, input, *machine, kernels_to_emit(input));
  std::string text;
  llvm::raw_string_ostream out(text);
  module->print(out, nullptr);
  return text;
}

std::string generate_assembly(const Plan& plan, const Target& target) {
  initialize_llvm();
  Input input{plan, target, find_alike(plan)};
  const Object text = make_file(input, kernels_to_emit(input), llvm::CodeGenFileType::AssemblyFile);
  return {text.begin(), text.end()};
}

}  // namespace tightloop::backends::cpu
