// SPDX-License-Identifier: Apache-2.0
#include <tightloop/base/perf_counters.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#if defined(__linux__)
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tightloop {

struct PerfCounters::Impl {
  static constexpr std::size_t kEvents = 3;
  std::vector<std::array<int, kEvents>> threads;  ///< open counters of each; -1: none
  std::array<double, kEvents> sums{};
  bool permitted = false;
  bool refused = false;  ///< then nobody asks again
};

PerfCounters::PerfCounters() : impl_(std::make_unique<Impl>()) {}
PerfCounters::~PerfCounters() { stop(); }

std::optional<PerfCounts> PerfCounters::read() const {
  if (!impl_->permitted || impl_->sums[0] <= 0) return {};
  return PerfCounts{impl_->sums[0], impl_->sums[1], impl_->sums[2]};
}

#if defined(__linux__)

namespace {

int open_counter(std::uint64_t event, int thread) {
  perf_event_attr attr{};
  attr.type = PERF_TYPE_HARDWARE;
  attr.size = sizeof attr;
  attr.config = event;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

/// Scaled up where the counter had to be shared.
double value_of(int counter) {
  std::array<std::uint64_t, 3> got{};  // value, enabled, running
  if (::read(counter, got.data(), sizeof got) != static_cast<ssize_t>(sizeof got) || got[2] == 0) return 0;
  return static_cast<double>(got[0]) * static_cast<double>(got[1]) / static_cast<double>(got[2]);
}

}  // namespace

void PerfCounters::start() {
  stop();
  if (impl_->refused) return;
  constexpr std::array<std::uint64_t, Impl::kEvents> events{
      PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CACHE_MISSES};
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::array<int, Impl::kEvents> counters{};
    const int thread = std::atoi(task.path().filename().c_str());
    for (std::size_t i = 0; i < events.size(); ++i) counters[i] = open_counter(events[i], thread);
    if (counters[0] < 0) continue;
    impl_->permitted = true;
    impl_->threads.push_back(counters);
  }
  impl_->refused = impl_->threads.empty();
}

void PerfCounters::stop() {
  for (const auto& counters : impl_->threads)
    for (std::size_t i = 0; i < counters.size(); ++i) {
      if (counters[i] < 0) continue;
      impl_->sums[i] += value_of(counters[i]);
      close(counters[i]);
    }
  impl_->threads.clear();
}

#else

void PerfCounters::start() {}
void PerfCounters::stop() {}

#endif

}  // namespace tightloop
