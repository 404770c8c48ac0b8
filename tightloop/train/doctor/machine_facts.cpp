// SPDX-License-Identifier: Apache-2.0
#include <tightloop/engine/machine.h>
#include <tightloop/train/doctor/machine_facts.h>

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tightloop::train {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return in ? std::string{std::istreambuf_iterator<char>(in), {}} : std::string();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto from = text.find_first_not_of(kSpace);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) + 1 - from);
}

template <class T>
std::optional<T> number(std::string_view text) {
  text = trimmed(text);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

/// What stands behind "key:" at the beginning of a line.
std::string_view field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos && trimmed(line.substr(0, colon)) == key)
      return trimmed(line.substr(colon + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

std::uint64_t kilobytes(std::string_view text, std::string_view key) {
  return 1024 * number<std::uint64_t>(field(text, key)).value_or(0);
}

/// Names in a folder that begin with `start`, sorted; none where there is no such folder.
std::vector<std::string> names_in(const std::string& folder, std::string_view start) {
  std::vector<std::string> out;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec))
    if (const std::string name = entry.path().filename().string(); name.starts_with(start))
      out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

void read_cpus(const std::string& root, MachineFacts& out) {
  const std::string cpuinfo = text_of(root + "/proc/cpuinfo"), cpus = root + "/sys/devices/system/cpu/";
  out.cpu = field(cpuinfo, "model name");
  out.features = features_of(cpuinfo);
  out.online = count_cpus(trimmed(text_of(cpus + "online")));
  out.allowed = count_cpus(field(text_of(root + "/proc/self/status"), "Cpus_allowed_list"));
  out.granted = granted_cpus(text_of(root + "/proc/self/cgroup"), root + "/sys/fs/cgroup");
  out.threads_per_core = count_cpus(trimmed(text_of(cpus + "cpu0/topology/thread_siblings_list")));
  out.memory_nodes = static_cast<int>(names_in(root + "/sys/devices/system/node", "node").size());
  for (const std::string& cpu : names_in(cpus, "cpu")) {
    const std::string governor(trimmed(text_of(cpus + cpu + "/cpufreq/scaling_governor")));
    if (!governor.empty()) ++out.governors[governor];
  }
}

/// A limit of memory; a control group without one says "max", or a number larger than any memory.
std::optional<std::uint64_t> limit_in(const std::string& path, std::uint64_t memory) {
  const auto value = number<std::uint64_t>(text_of(path));
  return value && (memory == 0 || *value < memory) ? value : std::nullopt;
}

void read_memory(const std::string& root, MachineFacts& out) {
  const std::string meminfo = text_of(root + "/proc/meminfo"), groups = root + "/sys/fs/cgroup/";
  out.memory = kilobytes(meminfo, "MemTotal");
  out.memory_available = kilobytes(meminfo, "MemAvailable");
  out.swap = kilobytes(meminfo, "SwapTotal");
  out.swap_free = kilobytes(meminfo, "SwapFree");
  out.memory_limit = limit_in(groups + "memory.max", out.memory);
  out.memory_used = number<std::uint64_t>(text_of(groups + "memory.current"));
  if (!out.memory_limit) {
    out.memory_limit = limit_in(groups + "memory/memory.limit_in_bytes", out.memory);
    out.memory_used = number<std::uint64_t>(text_of(groups + "memory/memory.usage_in_bytes"));
  }
  const std::string pages = text_of(root + "/sys/kernel/mm/transparent_hugepage/enabled");
  const auto from = pages.find('['), to = pages.find(']');
  if (from != std::string::npos && to != std::string::npos && from < to)
    out.huge_pages = pages.substr(from + 1, to - from - 1);
}

/// The share in "some avg10=0.00 avg60=12.50 …", of 1.
std::optional<double> pressure(const std::string& text) {
  const auto at = text.find("avg60=");
  if (!text.starts_with("some") || at == std::string::npos) return std::nullopt;
  const auto percent = number<double>(std::string_view(text).substr(at + 6));
  return percent ? std::optional(*percent / 100) : std::nullopt;
}

/// NVIDIA's by their driver; others, and those without one, by the class of their PCI device.
void read_gpus(const std::string& root, MachineFacts& out) {
  const std::string folder = root + "/proc/driver/nvidia/";
  const std::string version(field(text_of(folder + "version"), "NVRM version"));
  std::string driver;
  for (std::size_t i = 0; driver.empty() && i < version.size(); ++i)  // the first word that is a number
    if (version[i] >= '0' && version[i] <= '9' && (i == 0 || version[i - 1] == ' '))
      driver = version.substr(i, version.find(' ', i) - i);
  for (const std::string& gpu : names_in(folder + "gpus", "")) {
    const std::string model(field(text_of(folder + "gpus/" + gpu + "/information"), "Model"));
    out.gpus.push_back({model.empty() ? "NVIDIA" : model, "NVIDIA " + driver});
  }
  if (!out.gpus.empty()) return;
  for (const std::string& device : names_in(root + "/sys/bus/pci/devices", "")) {
    const std::string path = root + "/sys/bus/pci/devices/" + device;
    const std::string kind(trimmed(text_of(path + "/class"))), vendor(trimmed(text_of(path + "/vendor")));
    const bool nvidia = vendor == "0x10de", amd = vendor == "0x1002";
    if ((!kind.starts_with("0x0300") && !kind.starts_with("0x0302") && !kind.starts_with("0x0380")) ||
        (!nvidia && !amd))
      continue;
    const bool bound = amd && fs::exists(root + "/sys/module/amdgpu");
    out.gpus.push_back({nvidia ? "NVIDIA" : "AMD", bound ? "amdgpu" : ""});
  }
}

}  // namespace

bool MachineFacts::has(std::string_view feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

int count_cpus(std::string_view list) {
  constexpr int kMost = 1 << 20;
  int count = 0;
  while (!list.empty()) {
    const auto end = std::min(list.find(','), list.size());
    const std::string_view part = list.substr(0, end);
    const auto dash = part.find('-');
    const auto first = number<int>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number<int>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last >= kMost) return 0;
    count = std::min(kMost, count + *last - *first + 1);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return count;
}

std::vector<std::string> features_of(std::string_view cpuinfo) {
  std::string_view words = field(cpuinfo, "flags");
  if (words.empty()) words = field(cpuinfo, "Features");
  std::vector<std::string> out;
  while (!words.empty()) {
    const auto end = std::min(words.find(' '), words.size());
    if (end > 0) out.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return out;
}

MachineFacts read_machine(const std::string& root) {
  MachineFacts out;
  read_cpus(root, out);
  read_memory(root, out);
  out.load = number<double>(text_of(root + "/proc/loadavg"));
  out.waiting = pressure(text_of(root + "/proc/pressure/cpu"));
  read_gpus(root, out);
  return out;
}

}  // namespace tightloop::train
