// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace tightloop::backends::cpu {

/// How many threads this process can run at the same time, at least 1: the CPUs that it may use (affinity),
/// the CPU quota of its control groups, and OpenMP's own limit (OMP_NUM_THREADS), whichever is least. Reads
/// files below /proc and /sys: call it once, not in a loop.
int available_cores();

/// CPUs that the control groups grant, such as 1.5; nothing when they set no limit. `membership` is the text
/// of /proc/self/cgroup, `mount` the folder of the control groups (/sys/fs/cgroup). Versions 1 and 2; a limit
/// of any parent group counts.
std::optional<double> quota_cpus(std::string_view membership, const std::string& mount);

/// Whole cores, at least 1, that the control groups grant, or 0 when they set no limit.
int quota_cores(std::string_view membership, const std::string& mount);

}  // namespace tightloop::backends::cpu
