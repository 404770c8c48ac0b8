// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/codegen/generate.h>
#include <tightloop/backends/cpu/library/version.h>
#include <tightloop/backends/cpu/runtime/cores.h>
#include <tightloop/backends/cpu/runtime/object_cache.h>
#include <tightloop/backends/cpu/runtime/peak.h>
#include <tightloop/backends/cpu/runtime/peak_types.h>
#include <tightloop/engine/machine.h>

namespace tightloop {

double peak_gflops(int threads) { return backends::cpu::measure_peak_gflops(threads); }

int available_cores() { return backends::cpu::available_cores(); }

std::optional<double> granted_cpus(std::string_view membership, const std::string& mount) {
  return backends::cpu::quota_cpus(membership, mount);
}

std::vector<TypePeak> type_peaks(int threads) {
  std::vector<TypePeak> out;
  for (auto& p : backends::cpu::measure_peak_rates(threads)) out.push_back({p.type, p.units, p.gflops});
  return out;
}

double read_bandwidth(int threads, std::size_t bytes) {
  return backends::cpu::measure_read_bandwidth(threads, bytes);
}

bool amx_permitted() { return backends::cpu::amx_permitted(); }

std::string llvm_version() { return backends::cpu::compiler_version(); }

std::string onednn_version() { return backends::cpu::library_version(); }

CacheFolder code_cache() {
  const backends::cpu::ObjectCache cache;
  CacheFolder out{cache.directory().string(), cache.usable(), 0, backends::cpu::ObjectCache::kDefaultBytes};
  std::error_code ec;
  for (const auto& entry : std::filesystem::directory_iterator(cache.directory(), ec)) {
    const auto bytes = entry.is_regular_file(ec) ? entry.file_size(ec) : 0;
    if (!ec) out.bytes += bytes;
  }
  return out;
}

}  // namespace tightloop
