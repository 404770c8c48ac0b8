// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/cores.h>

#include <omp.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

namespace tightloop::backends::cpu {
namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The next part of `text` up to `separator`, cut off its front.
std::string_view cut(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty())
    if (cut(list, ',') == word) return true;
  return false;
}

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() ? std::nullopt : std::optional(value);
}

/// Quota over period of the group in `folder`.
std::optional<double> quota(const std::string& folder, bool version2) {
  std::string limit, period;
  if (version2) {
    std::ifstream(folder + "/cpu.max") >> limit >> period;
  } else {
    limit = text_of(folder + "/cpu.cfs_quota_us");
    period = text_of(folder + "/cpu.cfs_period_us");
  }
  const auto l = number(limit), p = number(period);
  if (!l || !p || *l <= 0 || *p <= 0) return std::nullopt;
  return *l / *p;
}

/// The least quota of the group `path` and its parents. In a container the path may be one that only the host
/// knows; its own group is then the root.
std::optional<double> least_quota(const std::string& root, std::string path, bool version2) {
  std::optional<double> least;
  for (;;) {
    if (const auto q = quota(root + path, version2)) least = std::min(least.value_or(*q), *q);
    const auto slash = path.rfind('/');
    if (slash == std::string::npos || path.empty()) return least;
    path.resize(slash);
  }
}

}  // namespace

std::optional<double> quota_cpus(std::string_view membership, const std::string& mount) {
  std::optional<double> least;
  while (!membership.empty()) {
    auto line = cut(membership, '\n');
    cut(line, ':');
    const auto controllers = cut(line, ':');
    const bool version2 = controllers.empty();
    if (!version2 && !has_word(controllers, "cpu")) continue;
    for (const char* folder : {"", "/cpu", "/cpu,cpuacct", "/unified"})
      if (const auto q = least_quota(mount + folder, std::string(line), version2))
        least = std::min(least.value_or(*q), *q);
  }
  return least;
}

int quota_cores(std::string_view membership, const std::string& mount) {
  const auto cpus = quota_cpus(membership, mount);
  return cpus ? std::max(1, static_cast<int>(std::min(*cpus, 1e6))) : 0;
}

int available_cores() {
  const int granted = quota_cores(text_of("/proc/self/cgroup"), "/sys/fs/cgroup");
  const int cores = std::min(omp_get_num_procs(), omp_get_max_threads());
  return std::max(1, granted > 0 ? std::min(granted, cores) : cores);
}

}  // namespace tightloop::backends::cpu
