// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tightloop::backends::cpu {

/// While it lives, this thread takes and gives zero for denormal floats, which cost a hundred cycles each on
/// many CPUs: MXCSR's FTZ and DAZ on x86-64, FPCR's FZ on AArch64, nothing elsewhere. Restores what was set
/// before.
class FlushDenormals {
 public:
  FlushDenormals() : before_(read()) { write(before_ | kFlush); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
  ~FlushDenormals() { write(before_); }

 private:
#if defined(__x86_64__)
  static constexpr std::uint64_t kFlush = 0x8040;  // FTZ, DAZ
  static std::uint64_t read() { return _mm_getcsr(); }
  static void write(std::uint64_t mode) { _mm_setcsr(static_cast<unsigned>(mode)); }
#elif defined(__aarch64__)
  static constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;  // FZ
  static std::uint64_t read() {
    std::uint64_t mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void write(std::uint64_t mode) { asm volatile("msr fpcr, %0" ::"r"(mode)); }
#else
  static constexpr std::uint64_t kFlush = 0;
  static std::uint64_t read() { return 0; }
  static void write(std::uint64_t) {}
#endif

  std::uint64_t before_;
};

}  // namespace tightloop::backends::cpu
