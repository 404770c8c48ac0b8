// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/cores.h>
#include <tightloop/backends/cpu/runtime/peak.h>
#include <tightloop/engine/machine.h>

namespace tightloop {

double peak_gflops(int threads) { return backends::cpu::measure_peak_gflops(threads); }

int available_cores() { return backends::cpu::available_cores(); }

}  // namespace tightloop
