// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace tightloop::backends::cpu {

/// The machine that code is made for, by its features (never by its name).
struct Target {
  std::string triple;
  std::string cpu;       ///< LLVM's base name, e.g. "x86-64-v4"
  std::string features;  ///< "+avx512f,+fma,…"
  int vector_bytes = 16;
  bool masks = false;  ///< masked loads and stores are single instructions
  bool avx512 = false;
  int vector_registers = 16;

  int lanes(int element_bytes) const { return vector_bytes / element_bytes; }
};

/// This machine. Needs LLVM's tables; computed once.
const Target& host_target();
/// A lesser machine that this one can stand in for: its vectors have at most `vector_bytes` bytes, and no
/// masks.
Target narrowed(const Target& host, int vector_bytes);

}  // namespace tightloop::backends::cpu
