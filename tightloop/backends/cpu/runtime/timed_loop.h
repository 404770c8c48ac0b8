// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/runtime/team.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tightloop::backends::cpu {

/// Seconds from the moment all threads stand ready until the last has done `work(thread, rounds)`.
template <class Work>
double together(Team& team, int threads, std::int64_t rounds, Work& work) {
  double seconds = 0;
  auto body = [&](int thread, int) {
    team.barrier().wait(thread);
    const auto start = std::chrono::steady_clock::now();
    work(thread, rounds);
    team.barrier().wait(thread);
    if (thread == 0)
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  team.run(threads, body);
  return seconds;
}

/// How many rounds fill `seconds` on one thread.
template <class Work>
std::int64_t rounds_in(double seconds, Work& work) {
  for (std::int64_t rounds = 1;; rounds *= 2) {
    const auto start = std::chrono::steady_clock::now();
    work(0, rounds);
    const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (taken > seconds / 4)
      return std::max<std::int64_t>(1,
                                    static_cast<std::int64_t>(static_cast<double>(rounds) * seconds / taken));
  }
}

/// The most rounds a second that each thread does; several tries that take about `seconds` in all.
template <class Work>
double best_rate(int threads, double seconds, Work work) {
  constexpr int kTries = 10;
  Team team;
  const std::int64_t rounds = rounds_in(seconds / kTries, work);
  double best = 0;
  for (int i = 0; i < kTries; ++i)
    best = std::max(best, static_cast<double>(rounds) / together(team, threads, rounds, work));
  return best;
}

}  // namespace tightloop::backends::cpu
