// SPDX-License-Identifier: Apache-2.0
#include <tightloop/train/plan.h>

#include <unistd.h>
#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace tightloop::train {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

/// The number in a file, or what stands for "max" and for a file that is not there.
std::size_t number_in(const std::string& path, std::size_t otherwise) {
  std::ifstream in(path);
  std::size_t value = 0;
  return in >> value ? value : otherwise;
}

std::size_t available() {
  std::ifstream in("/proc/meminfo");
  for (std::string word; in >> word;)
    if (std::size_t kilobytes = 0; word == "MemAvailable:" && in >> kilobytes) return 1024 * kilobytes;
  return kUnlimited;
}

/// What is left to a control group: version 2, else version 1.
std::size_t left_to_group() {
  const std::string root = "/sys/fs/cgroup/";
  const std::size_t limit = number_in(root + "memory.max", kUnlimited);
  const std::size_t old = number_in(root + "memory/memory.limit_in_bytes", kUnlimited);
  const auto left = [&](std::size_t most, const std::string& used) {
    return most == kUnlimited ? most : most - std::min(most, number_in(root + used, 0));
  };
  return std::min(left(limit, "memory.current"), left(old, "memory/memory.usage_in_bytes"));
}

}  // namespace

std::size_t resident_memory() {
  std::ifstream in("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  if (!(in >> pages >> resident)) return 0;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

std::size_t machine_memory() {
  const std::string root = "/sys/fs/cgroup/";
  return std::min(
      {static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)),
       number_in(root + "memory.max", kUnlimited),
       number_in(root + "memory/memory.limit_in_bytes", kUnlimited)});
}

std::size_t free_memory() { return std::min(available(), left_to_group()); }

}  // namespace tightloop::train
