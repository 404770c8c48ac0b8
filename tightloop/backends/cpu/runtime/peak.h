// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

namespace tightloop::backends::cpu {

/// The most f32 multiply-adds that `threads` threads reach, in GFLOP/s (two operations each): from registers
/// only, with the widest vectors of this CPU. The best of several tries that take about `seconds` in all.
double measure_peak_gflops(int threads, double seconds = 0.02);

/// Bytes read a second, in GB/s, by `threads` threads that each read their own share of `bytes` again and
/// again: choose `bytes` to fit the cache in question or none. Allocates that much.
double measure_read_bandwidth(int threads, std::size_t bytes, double seconds = 0.02);

}  // namespace tightloop::backends::cpu
