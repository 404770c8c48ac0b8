// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace tightloop::backends::cpu {

/// Whether this process may use AMX's tiles: asks the kernel, which grants them for good (Linux 5.16). False
/// where the CPU has none, too.
bool amx_permitted();

/// What multiplies numbers of one type, and how fast.
struct PeakRate {
  std::string type;   ///< "f64", "f32", "bf16", "f16", "i8"
  std::string units;  ///< "AVX-512", "AMX"
  double gflops = 0;  ///< multiply-adds from registers, two operations each; of i8 in GOP/s
};

/// The most that `threads` threads reach with each kind of units that this CPU has. Products of bf16 are
/// added up as f32, those of i8 as i32. Takes about `seconds` each.
std::vector<PeakRate> measure_peak_rates(int threads, double seconds = 0.02);

}  // namespace tightloop::backends::cpu
