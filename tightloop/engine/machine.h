// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace tightloop {

/// The most f32 multiply-adds that `threads` threads of this machine reach, in GFLOP/s (two operations each).
/// Measured at each call, in about 20 ms.
double peak_gflops(int threads);

/// How many threads this process can run at the same time: affinity, control groups and OMP_NUM_THREADS
/// counted. Reads files: call it once.
int available_cores();

/// Bytes a second, in GB/s, that `threads` threads read of `bytes` in all again and again: of a cache that
/// holds them, else of memory. Measured at each call, in about 20 ms; takes that much memory meanwhile.
double read_bandwidth(int threads, std::size_t bytes);

/// Whether this processor multiplies 16-bit floats (bf16) faster than f32.
bool has_fast_bf16();

}  // namespace tightloop
