// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>

namespace tightloop {

/// A clock that takes a few nanoseconds to read: the processor's own counter of constant rate where there is
/// one. TickScale says what it means.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// From ticks to seconds, by holding them against the steady clock: the longer it lives, the better it knows.
class TickScale {
 public:
  TickScale() : ticks_(ticks()), clock_(Clock::now()) {}

  std::uint64_t origin() const { return ticks_; }
  /// Seconds a tick takes, as seen since it was made. Wants a few milliseconds to be good to 1e-4.
  double seconds_per_tick() const {
    const std::uint64_t passed = ticks() - ticks_;
    const double seconds = std::chrono::duration<double>(Clock::now() - clock_).count();
    return passed == 0 ? 1e-9 : seconds / static_cast<double>(passed);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::uint64_t ticks_;
  Clock::time_point clock_;
};

}  // namespace tightloop
