// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/doctor/doctor.h>

#include <algorithm>
#include <cstdlib>

namespace tightloop::train {

Probed probe() {
  Probed out;
  out.amx_permitted = amx_permitted();
  out.usable = available_cores();
  const char* threads = std::getenv("OMP_NUM_THREADS");
  out.omp_num_threads = threads == nullptr ? "" : threads;
  out.cache = code_cache();
  out.llvm = llvm_version();
  out.onednn = onednn_version();
  return out;
}

Measured measure_machine(const MachineFacts& facts, int threads) {
  constexpr std::size_t kMost = std::size_t{512} << 20, kLeast = std::size_t{32} << 20;
  const std::size_t room = facts.memory_available > 0 ? facts.memory_available / 8 : kMost;
  const std::size_t bytes = std::clamp(room, kLeast, kMost);
  Measured out;
  out.threads = threads;
  out.peaks = type_peaks(1);
  out.bandwidth = read_bandwidth(1, bytes);
  if (threads < 2) return out;
  out.all_peaks = type_peaks(threads);
  out.all_bandwidth = read_bandwidth(threads, bytes);
  return out;
}

}  // namespace tightloop::train
