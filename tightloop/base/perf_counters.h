// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

namespace tightloop {

/// What the processor counted while the threads of this process ran in user code.
struct PerfCounts {
  double cycles = 0;
  double instructions = 0;
  double cache_misses = 0;  ///< loads that no cache of the processor answered
};

/// The processor's counters for all threads that the process has when start() is called. Linux may forbid
/// them (kernel.perf_event_paranoid, containers), and virtual machines often have none: then read() has
/// nothing.
class PerfCounters {
 public:
  PerfCounters();
  ~PerfCounters();
  PerfCounters(const PerfCounters&) = delete;
  PerfCounters& operator=(const PerfCounters&) = delete;

  void start();
  void stop();
  /// The sum of all stretches from start() to stop(); none when not permitted.
  std::optional<PerfCounts> read() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tightloop
