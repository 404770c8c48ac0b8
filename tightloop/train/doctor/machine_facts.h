// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the system says of the machine, in files below /proc and /sys. Whatever is missing or cannot be read
// stays unknown.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::train {

struct Gpu {
  std::string name, driver;  ///< driver "": none that can be used
};

struct MachineFacts {
  std::string cpu;                    ///< as it calls itself
  std::vector<std::string> features;  ///< "avx2", "amx_tile", "asimd", …
  int online = 0;                     ///< CPUs of the machine; 0: unknown
  int allowed = 0;                    ///< CPUs that this process may run on; 0: unknown
  std::optional<double> granted;      ///< CPUs that control groups grant
  int threads_per_core = 0;           ///< 0: unknown
  int memory_nodes = 0;
  std::uint64_t memory = 0, memory_available = 0, swap = 0, swap_free = 0;  ///< bytes; 0: unknown, or none
  std::optional<std::uint64_t> memory_limit, memory_used;                   ///< of the control group
  std::string huge_pages;                ///< "always", "madvise", "never"; "": unknown
  std::map<std::string, int> governors;  ///< CPUs by frequency governor
  std::optional<double> load;            ///< processes that ran or wanted to, over the last minute
  std::optional<double> waiting;         ///< share of the last minute in which some waited for a CPU
  std::vector<Gpu> gpus;

  bool has(std::string_view feature) const;
};

/// Reads them below `root`: "" is the machine itself.
MachineFacts read_machine(const std::string& root = "");

/// How many CPUs "0-3,8" names; 0 for what is no such list.
int count_cpus(std::string_view list);
/// The words behind "flags" or "Features" of /proc/cpuinfo.
std::vector<std::string> features_of(std::string_view cpuinfo);

}  // namespace tightloop::train
