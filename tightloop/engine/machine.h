// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tightloop {

/// The most f32 multiply-adds that `threads` threads of this machine reach, in GFLOP/s (two operations each).
/// Measured at each call, in about 20 ms.
double peak_gflops(int threads);

/// How many threads this process can run at the same time: affinity, control groups and OMP_NUM_THREADS
/// counted. Reads files: call it once.
int available_cores();

}  // namespace tightloop
