// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/engine/machine.h>
#include <tightloop/train/doctor/machine_facts.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::train {

/// What is found out by trying and not by reading files.
struct Probed {
  std::optional<bool> amx_permitted;  ///< empty: not asked
  int usable = 0;                     ///< threads that run at the same time, as training would count them
  std::string omp_num_threads;        ///< the variable of the environment
  CacheFolder cache;
  std::string llvm, onednn;
};
Probed probe();

/// One thread, and all that can run.
struct Measured {
  int threads = 1;
  std::vector<TypePeak> peaks, all_peaks;
  double bandwidth = 0, all_bandwidth = 0;  ///< GB/s
};
/// Takes about half a second, and 512 MB of memory for a moment, less where less is free.
Measured measure_machine(const MachineFacts& facts, int threads);

enum class Health : std::uint8_t { ok, note, warn };
std::string_view name(Health health);

struct Symptom {
  std::string what;  ///< "cores"
  Health health = Health::ok;
  std::string found;   ///< "2 of 4 usable: bound by affinity"
  std::string advice;  ///< what to do; "": nothing
};

/// What of the machine matters to training, and what will cost speed. `measured`: what was, if anything.
std::vector<Symptom> examine(const MachineFacts& facts, const Probed& probed,
                             const std::optional<Measured>& measured = {});

/// A line each, advice below what it is about.
std::string findings_text(const std::vector<Symptom>& findings);

}  // namespace tightloop::train
