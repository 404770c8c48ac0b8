// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

namespace tightloop::backends::cpu {

/// Where the threads of a team wait for each other, again and again: a dissemination barrier (Hensgen,
/// Finkel, Manber 1988), one cache-line transfer a round and log2(threads) rounds. Waiting spins for a
/// bounded time and then sleeps, so that a machine with more threads than free cores goes on. What a thread
/// wrote before wait() is seen by all after it. wait() neither allocates nor locks.
class Barrier {
 public:
  explicit Barrier(int threads = 1) { reset(threads); }

  /// Makes it a barrier of `threads`; nobody may be waiting. Allocates only when it grows.
  void reset(int threads);
  int threads() const { return threads_; }

  /// Returns when each of the threads 0..threads()-1 has called it.
  void wait(int thread) {
    if (threads_ > 1) meet(thread);
  }

 private:
  struct alignas(64) Flag {
    std::atomic<std::uint32_t> state{0};  // epoch, and in the lowest bit whether the owner sleeps
  };
  struct alignas(64) Epoch {
    std::uint32_t value = 0;
  };

  void meet(int thread);

  int threads_ = 0;
  int capacity_ = 0;
  int rounds_ = 0;
  std::unique_ptr<Epoch[]> epochs_;  // [threads]
  std::unique_ptr<Flag[]> flags_;    // [threads, rounds]
};

}  // namespace tightloop::backends::cpu
