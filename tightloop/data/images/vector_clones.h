// SPDX-License-Identifier: Apache-2.0
#pragma once
// A function of pixels compiled for wider vectors too; the machine's is taken when the program starts.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TIGHTLOOP_VECTOR_CLONES \
  __attribute__((target_clones("default", "avx2", "avx512f"), optimize("O3", "vect-cost-model=dynamic")))
#else
#define TIGHTLOOP_VECTOR_CLONES
#endif
