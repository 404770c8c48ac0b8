// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/cores.h>
#include <tightloop/backends/cpu/runtime/cost.h>
#include <tightloop/backends/cpu/runtime/peak.h>
#include <tightloop/backends/cpu/runtime/team.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

namespace tightloop::backends::cpu {
namespace {

constexpr double kShareOfPeak = 0.5;  // that kernels reach; guessing fast means guessing few threads
constexpr double kBarrierFactor = 2;  // threads seldom arrive together
constexpr double kMustGain = 0.8;     // of the time of one thread
constexpr double kNearBest = 1.05;
constexpr double kMeasureSeconds = 0.0005;
constexpr std::size_t kMeasureBytes = 256 << 10;
constexpr Rates kTinyRates{
    .operations = 30e9, .bytes = 20e9, .barrier_of_two = 100e-9, .barrier_of_all = 100e-9, .cores = 2};

double kernel_seconds(const KernelWork& kernel, int threads, const Rates& rates) {
  const double alone = std::max(kernel.operations / rates.operations, kernel.bytes / rates.bytes);
  const std::int64_t parts = std::max<std::int64_t>(kernel.parts, 1);
  if (parts > std::int64_t{1000} * threads) return alone / threads;
  const std::int64_t largest_share = (parts + threads - 1) / threads;
  return alone * static_cast<double>(largest_share) / static_cast<double>(parts);
}

double barrier_seconds(int threads) {
  constexpr int kBarriers = 50;
  using Clock = std::chrono::steady_clock;
  Team team;
  std::array<double, 9> seconds{};
  auto body = [&](int thread, int) {
    for (int i = 0; i < 10; ++i) team.barrier().wait(thread);
    for (double& s : seconds) {
      const auto start = Clock::now();
      for (int i = 0; i < kBarriers; ++i) team.barrier().wait(thread);
      if (thread == 0) s = std::chrono::duration<double>(Clock::now() - start).count() / kBarriers;
    }
  };
  team.run(threads, body);
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  return seconds[seconds.size() / 2];
}

Rates measure() {
  Rates rates;
  rates.cores = available_cores();
  rates.operations = 1e9 * kShareOfPeak * measure_peak_gflops(1, kMeasureSeconds);
  rates.bytes = 1e9 * measure_read_bandwidth(1, kMeasureBytes, kMeasureSeconds);
  if (rates.cores == 1) return rates;
  rates.barrier_of_two = kBarrierFactor * barrier_seconds(2);
  rates.barrier_of_all =
      rates.cores == 2 ? rates.barrier_of_two : kBarrierFactor * barrier_seconds(rates.cores);
  return rates;
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

int choose_threads(const StepWork& work, int max_threads) {
  if (max_threads <= 1 || choose_threads(work, 2, kTinyRates) == 1) return 1;
  return choose_threads(work, max_threads, measured_rates());
}

const Rates& measured_rates() {
  static const Rates rates = measure();
  return rates;
}

}  // namespace tightloop::backends::cpu
