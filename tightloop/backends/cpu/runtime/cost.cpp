// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/cost.h>

#include <algorithm>
#include <cmath>

namespace tightloop::backends::cpu {
namespace {

constexpr double kMustGain = 0.8;  // of the time of one thread
constexpr double kNearBest = 1.05;
double kernel_seconds(const KernelWork& kernel, int threads, const Rates& rates) {
  const double alone = std::max(kernel.operations / rates.operations, kernel.bytes / rates.bytes);
  const std::int64_t parts = std::max<std::int64_t>(kernel.parts, 1);
  if (parts > std::int64_t{1000} * threads) return alone / threads;
  const std::int64_t largest_share = (parts + threads - 1) / threads;
  return alone * static_cast<double>(largest_share) / static_cast<double>(parts);
}

}  // namespace

double Rates::barrier(int threads) const {
  if (threads <= 1) return 0;
  if (threads == 2 || cores <= 2) return barrier_of_two;
  const double way = (std::log2(threads) - 1) / (std::log2(cores) - 1);
  return barrier_of_two + way * std::max(0.0, barrier_of_all - barrier_of_two);
}

double predicted_seconds(const StepWork& work, int threads, const Rates& rates) {
  double seconds = work.barriers * rates.barrier(threads);
  for (const KernelWork& kernel : work.kernels) seconds += kernel_seconds(kernel, threads, rates);
  return seconds;
}

int choose_threads(const StepWork& work, int max_threads, const Rates& rates) {
  const int most = std::min(max_threads, rates.cores);
  const double alone = predicted_seconds(work, 1, rates);
  double best = alone;
  for (int t = 2; t <= most; ++t) best = std::min(best, predicted_seconds(work, t, rates));
  if (best > kMustGain * alone) return 1;
  const double enough = std::min(kNearBest * best, kMustGain * alone);
  int threads = 1;
  while (threads < most && predicted_seconds(work, threads, rates) > enough) ++threads;
  return threads;
}

Rates typical_rates(int cores) {
  constexpr double kBarrier = 2e-7;
  return {.operations = 100e9,
          .bytes = 20e9,
          .barrier_of_two = kBarrier,
          .barrier_of_all = kBarrier * std::max(1.0, std::log2(cores)),
          .cores = cores};
}

}  // namespace tightloop::backends::cpu
