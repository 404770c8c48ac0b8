// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop {

/// The most f32 multiply-adds that `threads` threads of this machine reach, in GFLOP/s (two operations each).
/// Measured at each call, in about 20 ms.
double peak_gflops(int threads);

/// How many threads this process can run at the same time: affinity, control groups and OMP_NUM_THREADS
/// counted. Reads files: call it once.
int available_cores();

/// CPUs that control groups grant this process, such as 1.5; nothing when they set no limit. `membership` is
/// the text of /proc/self/cgroup, `mount` where control groups are found (/sys/fs/cgroup).
std::optional<double> granted_cpus(std::string_view membership, const std::string& mount);

/// Multiply-adds from registers of one type of number with one kind of units ("AVX-512", "AMX"), in GFLOP/s
/// (GOP/s for "i8").
struct TypePeak {
  std::string type, units;
  double gflops = 0;
};
/// What `threads` threads reach with each kind of units that this CPU has. About 20 ms each.
std::vector<TypePeak> type_peaks(int threads);

/// Bytes a second, in GB/s, that `threads` threads read of `bytes` in all again and again: of a cache that
/// holds them, else of memory. About 20 ms beside its filling; takes that much memory meanwhile.
double read_bandwidth(int threads, std::size_t bytes);

/// Whether the kernel lets this process use AMX. Asks for it.
bool amx_permitted();

/// "19.1.4" and "2.6.3"
std::string llvm_version();
std::string onednn_version();

/// The folder of compiled code.
struct CacheFolder {
  std::string path;
  bool usable = false;
  std::size_t bytes = 0, most = 0;  ///< held now, and at most
};
CacheFolder code_cache();

}  // namespace tightloop
