// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <tightloop/backends/cpu/codegen/target.h>
#include <tightloop/base/dtype.h>

namespace tightloop::backends::cpu {

/// A block of a matrix product held in registers: rows × (vectors · lanes) sums over K.
struct Tile {
  DType dtype = DType::f32;
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

/// The function of a tile, made once per module:
/// (a, stride of a, b, stride of b, K, out, columns, add): out[rows][pitch · lanes] = Σ_k a·b, in the order
/// of k; with add (not 0) after what out holds. a points to the block's first row (or column when
/// transposed), b to its first column. Strides in elements.
llvm::FunctionType* tile_function_type(llvm::LLVMContext& context);
llvm::Function* tile_function(llvm::Module& module, const Target& target, const Tile& tile);

/// (b, stride of b, K, out, columns): copies a panel of B, one of `tile`'s columns wide, to K consecutive
/// rows of pitch · lanes. Columns that are not there become 0.
llvm::FunctionType* pack_function_type(llvm::LLVMContext& context);
llvm::Function* pack_function(llvm::Module& module, const Target& target, const Tile& tile);

}  // namespace tightloop::backends::cpu
