// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <vector>

namespace tightloop::backends::cpu {

struct KernelWork {
  double operations = 0;  ///< additions, multiplications and the like; a division counts 8, an exponential 20
  double bytes = 0;       ///< read and written
  std::int64_t parts = std::numeric_limits<std::int64_t>::max();  ///< equal shares that it can be cut into
};

struct StepWork {
  std::vector<KernelWork> kernels;
  double barriers = 0;  ///< times that the threads wait for each other in a step
};

/// What a thread does in a second, and how long a barrier takes.
struct Rates {
  double operations = 1;
  double bytes = 1;
  double barrier_of_two = 0;  ///< seconds
  double barrier_of_all = 0;  ///< seconds, with `cores` threads
  int cores = 1;

  /// Between the two it grows with the rounds, log2(threads).
  double barrier(int threads) const;
};

/// Seconds that a step takes with `threads` threads: each kernel by its arithmetic or its memory, whichever
/// is longer, shared by as many threads as it has parts, and the barriers.
double predicted_seconds(const StepWork& work, int threads, const Rates& rates);

/// The fewest threads, of at most max_threads and rates.cores, that come near the best prediction; one unless
/// more are clearly faster.
int choose_threads(const StepWork& work, int max_threads, const Rates& rates);

/// Of a present-day machine. Good enough to tell whether several threads are worth a trial
/// (runtime/thread_trial.h), which then measures the steps themselves.
Rates typical_rates(int cores);

}  // namespace tightloop::backends::cpu
