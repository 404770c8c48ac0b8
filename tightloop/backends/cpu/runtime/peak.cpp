// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/peak.h>
#include <tightloop/backends/cpu/runtime/team.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace tightloop::backends::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTries = 10;
constexpr std::size_t kReadBlock = 512;  // bytes a round of the reading loop takes

template <int Bytes>
struct Vector {
  typedef float Type __attribute__((vector_size(Bytes)));
};

/// `Chains` independent chains hide the latency of the units; returns the operations done.
template <int Bytes, int Chains>
__attribute__((always_inline)) inline double multiply_add(std::int64_t rounds) {
  using V = typename Vector<Bytes>::Type;
  const V a = V{} + 0.999f, b = V{} + 0.001f;
  V sums[Chains];
#pragma GCC unroll 32
  for (int i = 0; i < Chains; ++i) sums[i] = V{} + static_cast<float>(i + 2);
  for (std::int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 32
    for (int i = 0; i < Chains; ++i) sums[i] = sums[i] * a + b;
  V total{};
#pragma GCC unroll 32
  for (int i = 0; i < Chains; ++i) total += sums[i];
  volatile float sink = total[0];
  static_cast<void>(sink);
  return 2.0 * static_cast<double>(rounds) * Chains * (Bytes / sizeof(float));
}

/// Adds all floats of `data` up, `repeats` times.
template <int Bytes>
__attribute__((always_inline)) inline void read_all(const char* data, std::size_t bytes,
                                                    std::int64_t repeats) {
  using V = typename Vector<Bytes>::Type;
  constexpr int kChains = 8;
  V sums[kChains] = {};
  for (std::int64_t r = 0; r < repeats; ++r) {
    for (std::size_t at = 0; at + kReadBlock <= bytes; at += kChains * Bytes)
#pragma GCC unroll 8
      for (int i = 0; i < kChains; ++i) sums[i] += *reinterpret_cast<const V*>(data + at + i * Bytes);
    asm volatile("" ::: "memory");
  }
  V total{};
#pragma GCC unroll 8
  for (int i = 0; i < kChains; ++i) total += sums[i];
  volatile float sink = total[0];
  static_cast<void>(sink);
}

struct Loops {
  double (*multiply_add)(std::int64_t rounds);
  void (*read)(const char* data, std::size_t bytes, std::int64_t repeats);
};

double multiply_add_16(std::int64_t rounds) { return multiply_add<16, 12>(rounds); }
void read_16(const char* data, std::size_t bytes, std::int64_t repeats) {
  read_all<16>(data, bytes, repeats);
}

#if defined(__x86_64__)
__attribute__((target("avx512f,fma"))) double multiply_add_64(std::int64_t rounds) {
  return multiply_add<64, 12>(rounds);
}
__attribute__((target("avx512f,fma"))) void read_64(const char* data, std::size_t bytes,
                                                    std::int64_t repeats) {
  read_all<64>(data, bytes, repeats);
}
__attribute__((target("avx2,fma"))) double multiply_add_32(std::int64_t rounds) {
  return multiply_add<32, 12>(rounds);
}
__attribute__((target("avx2,fma"))) void read_32(const char* data, std::size_t bytes, std::int64_t repeats) {
  read_all<32>(data, bytes, repeats);
}
#endif

Loops widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {multiply_add_64, read_64};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {multiply_add_32, read_32};
#elif defined(__aarch64__)
  return {[](std::int64_t rounds) { return multiply_add<16, 24>(rounds); }, read_16};
#endif
  return {multiply_add_16, read_16};
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Seconds from the moment all threads stand ready until the last has done `work(thread, rounds)`.
template <class Work>
double together(Team& team, int threads, std::int64_t rounds, Work& work) {
  double seconds = 0;
  auto body = [&](int thread, int) {
    team.barrier().wait(thread);
    const auto start = Clock::now();
    work(thread, rounds);
    team.barrier().wait(thread);
    if (thread == 0) seconds = seconds_since(start);
  };
  team.run(threads, body);
  return seconds;
}

/// How many rounds fill `seconds` on one thread.
template <class Work>
std::int64_t rounds_in(double seconds, Work& work) {
  for (std::int64_t rounds = 1;; rounds *= 2) {
    const auto start = Clock::now();
    work(0, rounds);
    const double taken = seconds_since(start);
    if (taken > seconds / 4)
      return std::max<std::int64_t>(1,
                                    static_cast<std::int64_t>(static_cast<double>(rounds) * seconds / taken));
  }
}

/// The most rounds a second that each thread does; several tries that take about `seconds` in all.
template <class Work>
double best_rate(int threads, double seconds, Work work) {
  Team team;
  const std::int64_t rounds = rounds_in(seconds / kTries, work);
  double best = 0;
  for (int i = 0; i < kTries; ++i)
    best = std::max(best, static_cast<double>(rounds) / together(team, threads, rounds, work));
  return best;
}

struct Freed {
  void operator()(char* data) const { ::operator delete[](data, std::align_val_t(64)); }
};

}  // namespace

double measure_peak_gflops(int threads, double seconds) {
  const Loops loops = widest();
  constexpr std::int64_t kUnit = 256;
  const double operations = loops.multiply_add(kUnit) * threads;
  return 1e-9 * operations *
         best_rate(threads, seconds, [&](int, std::int64_t rounds) { loops.multiply_add(rounds * kUnit); });
}

double measure_read_bandwidth(int threads, std::size_t bytes, double seconds) {
  const Loops loops = widest();
  const std::size_t share = std::max<std::size_t>(1, bytes / threads / kReadBlock) * kReadBlock;
  const std::unique_ptr<char[], Freed> data(new (std::align_val_t(64)) char[share * threads]);
  auto touch = [&](int thread, int) { std::memset(data.get() + share * thread, 0, share); };
  Team().run(threads, touch);
  const double rate = best_rate(threads, seconds, [&](int thread, std::int64_t rounds) {
    loops.read(data.get() + share * thread, share, rounds);
  });
  return 1e-9 * static_cast<double>(share) * threads * rate;
}

}  // namespace tightloop::backends::cpu
