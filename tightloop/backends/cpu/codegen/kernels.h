// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/codegen/kernel_builder.h>

namespace tightloop::backends::cpu {

// One function per KernelKind: the body of a kernel function, from an open KernelBuilder.

/// Loops over the domain, vectors along the last dim; one flat loop where every access is.
void emit_elementwise(KernelBuilder& k);
/// Reductions that share their input's loops, then whatever reads their results element by element.
/// The order of additions depends on shapes alone, so any split of the outputs gives the same bits.
void emit_reduce(KernelBuilder& k);
/// C[M, N] = A[M, K] · B[K, N] in register tiles, each finished by the kernel's other roots.
void emit_matmul(KernelBuilder& k);
/// Zeros the result, then adds rows in the order of the index.
void emit_scatter(KernelBuilder& k);
/// The last two dims swapped, in blocks of lanes × lanes held in registers.
void emit_transpose(KernelBuilder& k);

/// Lanes for a kernel whose values are `dtype`: vectors of 4-byte elements unless it computes in f64.
int kernel_lanes(const Kernel& kernel, const Target& target);
/// Whether a loop over `d` in steps of `lanes` can leave a rest.
bool leaves_rest(const Dim& d, int lanes);
/// Sum over registers: log2 steps of halves added. `combine(a, b)`.
template <class Combine>
llvm::Value* fold_lanes(KernelBuilder& k, llvm::Value* vector, Combine combine);

template <class Combine>
llvm::Value* fold_lanes(KernelBuilder& k, llvm::Value* vector, Combine combine) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(vector->getType());
  if (type == nullptr) return vector;
  for (unsigned half = type->getNumElements() / 2; half > 0; half /= 2) {
    std::vector<int> low;
    std::vector<int> high;
    for (unsigned i = 0; i < half; ++i) {
      low.push_back(static_cast<int>(i));
      high.push_back(static_cast<int>(i + half));
    }
    vector = combine(k.ir().CreateShuffleVector(vector, low), k.ir().CreateShuffleVector(vector, high));
  }
  return k.ir().CreateExtractElement(vector, std::uint64_t{0});
}

}  // namespace tightloop::backends::cpu
