// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/peak.h>
#include <tightloop/engine/machine.h>

namespace tightloop {

double peak_gflops(int threads) { return backends::cpu::measure_peak_gflops(threads); }

}  // namespace tightloop
