// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/cores.h>
#include <tightloop/backends/cpu/runtime/peak.h>
#include <tightloop/engine/machine.h>

namespace tightloop {

double peak_gflops(int threads) { return backends::cpu::measure_peak_gflops(threads); }

double read_bandwidth(int threads, std::size_t bytes) {
  return backends::cpu::measure_read_bandwidth(threads, bytes);
}

bool has_fast_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#else
  return false;
#endif
}

int available_cores() { return backends::cpu::available_cores(); }

}  // namespace tightloop
