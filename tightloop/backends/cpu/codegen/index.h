// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/Value.h>

#include <cstdint>
#include <vector>

namespace tightloop::backends::cpu {

/// Where a loop nest stands in one dim: either base + lane·step (step 0: the same for all lanes), or a whole
/// vector of positions. `level` is the depth of the innermost loop it depends on; `id` names it for
/// the table of values already computed.
struct Index {
  llvm::Value* base = nullptr;  ///< i64
  std::int64_t step = 0;
  llvm::Value* lanes = nullptr;  ///< <L x i64>, or null
  int level = 0;
  int id = 0;

  bool uniform() const { return step == 0 && lanes == nullptr; }
};

/// An element of a tensor: one index per dim, or (flat) its row-major number alone.
struct Position {
  std::vector<Index> dims;
  bool flat = false;
};

/// A value computed at some loop depth.
struct Emitted {
  llvm::Value* v = nullptr;
  int level = 0;
};

}  // namespace tightloop::backends::cpu
