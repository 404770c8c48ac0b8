// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/barrier.h>

#include <chrono>
#include <thread>

namespace tightloop::backends::cpu {
namespace {

using Flag = std::atomic<std::uint32_t>;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kAsleep = 1;
constexpr std::uint32_t kNextEpoch = 2;
constexpr int kEagerLoads = 256;
constexpr int kPauses = 64;
constexpr int kPausesPerYield = 16;
constexpr auto kSpinTime = std::chrono::microseconds(50);  // about what sleeping and waking costs

int rounds_for(int threads) {
  int rounds = 0;
  while ((1 << rounds) < threads) ++rounds;
  return rounds;
}

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

bool reached(std::uint32_t state, std::uint32_t epoch) {
  return static_cast<std::int32_t>((state & ~kAsleep) - epoch) >= 0;
}

bool reached(const Flag& flag, std::uint32_t epoch) {
  return reached(flag.load(std::memory_order_acquire), epoch);
}

void signal(Flag& flag, std::uint32_t epoch) {
  if (flag.exchange(epoch, std::memory_order_acq_rel) & kAsleep) flag.notify_one();
}

bool spin(const Flag& flag, std::uint32_t epoch, int pauses) {
  for (int i = 0; i < pauses; ++i) {
    if (reached(flag, epoch)) return true;
    pause();
  }
  return false;
}

bool spin(const Flag& flag, std::uint32_t epoch) {
  for (int i = 0; i < kEagerLoads; ++i)
    if (reached(flag, epoch)) return true;
  if (spin(flag, epoch, kPauses)) return true;
  const auto end = Clock::now() + kSpinTime;
  do {
    if (spin(flag, epoch, kPausesPerYield)) return true;
    std::this_thread::yield();
  } while (Clock::now() < end);
  return false;
}

void sleep(Flag& flag, std::uint32_t epoch) {
  std::uint32_t state = flag.load(std::memory_order_acquire);
  while (!reached(state, epoch)) {
    if ((state & kAsleep) || flag.compare_exchange_strong(state, state | kAsleep, std::memory_order_acq_rel))
      flag.wait(state | kAsleep, std::memory_order_acquire);
    state = flag.load(std::memory_order_acquire);
  }
}

}  // namespace

void Barrier::reset(int threads) {
  if (threads > capacity_) {
    epochs_ = std::make_unique<Epoch[]>(threads);
    flags_ = std::make_unique<Flag[]>(static_cast<std::size_t>(threads) * rounds_for(threads));
    capacity_ = threads;
  }
  threads_ = threads;
  rounds_ = rounds_for(threads);
  for (int i = 0; i < threads; ++i) epochs_[i].value = 0;
  for (int i = 0; i < threads * rounds_; ++i) flags_[i].state.store(0, std::memory_order_relaxed);
}

void Barrier::meet(int thread) {
  const std::uint32_t epoch = epochs_[thread].value += kNextEpoch;
  for (int round = 0; round < rounds_; ++round) {
    const int partner = (thread + (1 << round)) % threads_;
    signal(flags_[partner * rounds_ + round].state, epoch);
    auto& own = flags_[thread * rounds_ + round].state;
    if (!spin(own, epoch)) sleep(own, epoch);
  }
}

}  // namespace tightloop::backends::cpu
