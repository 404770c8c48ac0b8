// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/peak.h>
#include <tightloop/backends/cpu/runtime/timed_loop.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace tightloop::backends::cpu {
namespace {

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
