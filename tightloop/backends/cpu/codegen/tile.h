// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <tightloop/backends/cpu/codegen/target.h>
#include <tightloop/base/dtype.h>

#include <mutex>
#include <string>
#include <unordered_set>

namespace tightloop::backends::cpu {

/// A block of a matrix product held in registers: rows × (vectors · lanes) sums over K.
struct Tile {
  DType dtype = DType::f32;
  DType a = DType::f32, b = DType::f32;  ///< what the operands are stored as: dtype, bf16 or f16
  int rows = 8;
  int vectors = 2;
  int lanes = 16;
  int pitch = 2;              ///< vectors from one row of the result to the next
  bool masked = false;        ///< fewer columns than vectors · lanes exist
  bool a_transposed = false;  ///< A is [K, M]: neighbours along M

  int columns() const { return vectors * lanes; }
};

/// The tile shape that keeps all sums in this machine's registers.
Tile best_tile(const Target& target, DType dtype);

/// Which functions that kernels share are already written, by whichever of the modules being made side by
/// side came first: the others declare them.
class SharedFunctions {
 public:
  /// True for the first who asks: that one writes it.
  bool claim(const std::string& symbol) {
    const std::scoped_lock lock(mutex_);
    return claimed_.insert(symbol).second;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> claimed_;
};

/// The function of a tile:
/// (a, stride of a, b, stride of b, K, out, columns, add): out[rows][pitch · lanes] = Σ_k a·b, in the order
/// of k; with add (not 0) after what out holds. a points to the block's first row (or column when
/// transposed), b to its first column. Strides in elements.
llvm::FunctionType* tile_function_type(llvm::LLVMContext& context);
llvm::Function* tile_function(llvm::Module& module, const Target& target, SharedFunctions& shared,
                              const Tile& tile);

/// (b, stride of b, K, out, columns): copies a panel of B, one of `tile`'s columns wide, to K consecutive
/// rows of pitch · lanes. Columns that are not there become 0.
llvm::FunctionType* pack_function_type(llvm::LLVMContext& context);
llvm::Function* pack_function(llvm::Module& module, const Target& target, SharedFunctions& shared,
                              const Tile& tile);

}  // namespace tightloop::backends::cpu
