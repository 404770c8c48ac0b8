// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loops compiled for the machine's widest vectors: `widest<Loops>(arguments...)` calls
// Loops::run(arguments...) as compiled for AVX-512, AVX2 or the baseline. Loops::run must be always_inline,
// and its inner loops carry
// `#pragma omp simd`.
#include <utility>

namespace tightloop::backends::cpu {

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"  // `omp simd` is a wish where nothing is optimised
#define TIGHTLOOP_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"
#else
#define TIGHTLOOP_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,prefer-vector-width=512"
#endif

template <class Loops, class... Arguments>
__attribute__((target(TIGHTLOOP_AVX512))) void run_avx512(Arguments... arguments) {
  Loops::run(arguments...);
}
#undef TIGHTLOOP_AVX512

template <class Loops, class... Arguments>
__attribute__((target("avx2,fma"))) void run_avx2(Arguments... arguments) {
  Loops::run(arguments...);
}

enum class VectorLevel : unsigned char { baseline, avx2, avx512 };

inline VectorLevel vector_level() {
  static const VectorLevel level = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
      return VectorLevel::avx512;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? VectorLevel::avx2
                                                                           : VectorLevel::baseline;
  }();
  return level;
}

template <class Loops, class... Arguments>
void widest(Arguments... arguments) {
  switch (vector_level()) {
    case VectorLevel::avx512:
      return run_avx512<Loops, Arguments...>(arguments...);
    case VectorLevel::avx2:
      return run_avx2<Loops, Arguments...>(arguments...);
    case VectorLevel::baseline:
      return Loops::run(arguments...);
  }
}

#else

template <class Loops, class... Arguments>
void widest(Arguments... arguments) {
  Loops::run(arguments...);
}

#endif

}  // namespace tightloop::backends::cpu
