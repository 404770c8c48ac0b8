// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/runtime/peak.h>
#include <tightloop/backends/cpu/runtime/peak_types.h>
#include <tightloop/backends/cpu/runtime/timed_loop.h>

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tightloop::backends::cpu {
namespace {

constexpr std::int64_t kUnit = 256;  // rounds of a call

/// Does `rounds` rounds; returns the operations done.
using Loop = double (*)(std::int64_t rounds);

template <int Bytes>
struct Doubles {
  typedef double Type __attribute__((vector_size(Bytes)));
};

template <int Bytes, int Chains>
__attribute__((always_inline)) inline double multiply_add_f64(std::int64_t rounds) {
  using V = typename Doubles<Bytes>::Type;
  const V a = V{} + 0.999, b = V{} + 0.001;
  V sums[Chains];
#pragma GCC unroll 32
  for (int i = 0; i < Chains; ++i) sums[i] = V{} + static_cast<double>(i + 2);
  for (std::int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 32
    for (int i = 0; i < Chains; ++i) sums[i] = sums[i] * a + b;
  V total{};
#pragma GCC unroll 32
  for (int i = 0; i < Chains; ++i) total += sums[i];
  volatile double sink = total[0];
  static_cast<void>(sink);
  return 2.0 * static_cast<double>(rounds) * Chains * (Bytes / sizeof(double));
}

double f64_16(std::int64_t rounds) { return multiply_add_f64<16, 12>(rounds); }

#if defined(__x86_64__)

__attribute__((target("avx2,fma"))) double f64_32(std::int64_t rounds) {
  return multiply_add_f64<32, 12>(rounds);
}
__attribute__((target("avx512f,fma"))) double f64_64(std::int64_t rounds) {
  return multiply_add_f64<64, 12>(rounds);
}

constexpr int kChains = 16;

__attribute__((target("avx512f,avx512bf16"))) double bf16_64(std::int64_t rounds) {
  const __m512bh a = (__m512bh)_mm512_set1_epi16(0x3F80), b = (__m512bh)_mm512_set1_epi16(0x3A00);
  __m512 sums[kChains];
  for (auto& s : sums) s = _mm512_setzero_ps();
  for (std::int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) sums[i] = _mm512_dpbf16_ps(sums[i], a, b);
  __m512 total = _mm512_setzero_ps();
  for (const auto& s : sums) total = _mm512_add_ps(total, s);
  volatile float sink = _mm512_cvtss_f32(total);
  static_cast<void>(sink);
  return 64.0 * kChains * static_cast<double>(rounds);
}

__attribute__((target("avx512f,avx512vnni"))) double i8_64(std::int64_t rounds) {
  const __m512i a = _mm512_set1_epi8(1), b = _mm512_set1_epi8(2);
  __m512i sums[kChains];
  for (auto& s : sums) s = _mm512_setzero_si512();
  for (std::int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) sums[i] = _mm512_dpbusd_epi32(sums[i], a, b);
  __m512i total = _mm512_setzero_si512();
  for (const auto& s : sums) total = _mm512_add_epi32(total, s);
  volatile int sink = _mm512_cvtsi512_si32(total);
  static_cast<void>(sink);
  return 128.0 * kChains * static_cast<double>(rounds);
}

#if !defined(__clang__)  // older ones have no such vectors
__attribute__((target("avx512f,avx512bw,avx512fp16"))) double f16_64(std::int64_t rounds) {
  const __m512h a = _mm512_set1_ph((_Float16)0.999f), b = _mm512_set1_ph((_Float16)0.001f);
  __m512h sums[kChains];
  for (auto& s : sums) s = b;
  for (std::int64_t r = 0; r < rounds; ++r)
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) sums[i] = _mm512_fmadd_ph(sums[i], a, b);
  __m512h total = b;
  for (const auto& s : sums) total = _mm512_add_ph(total, s);
  volatile int sink = _mm512_cvtsi512_si32(_mm512_castph_si512(total));
  static_cast<void>(sink);
  return 64.0 * kChains * static_cast<double>(rounds);
}
#endif

/// Eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

__attribute__((target("amx-tile"))) void zero_tiles() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
}

__attribute__((target("amx-tile,amx-bf16"))) double bf16_tiles(std::int64_t rounds) {
  const TileConfig config;
  _tile_loadconfig(&config);
  zero_tiles();
  for (std::int64_t r = 0; r < rounds; ++r) {
    _tile_dpbf16ps(0, 4, 5);
    _tile_dpbf16ps(1, 4, 5);
    _tile_dpbf16ps(2, 4, 5);
    _tile_dpbf16ps(3, 4, 5);
  }
  _tile_release();
  return 4 * 2.0 * 16 * 16 * 32 * static_cast<double>(rounds);
}

__attribute__((target("amx-tile,amx-int8"))) double i8_tiles(std::int64_t rounds) {
  const TileConfig config;
  _tile_loadconfig(&config);
  zero_tiles();
  for (std::int64_t r = 0; r < rounds; ++r) {
    _tile_dpbssd(0, 4, 5);
    _tile_dpbssd(1, 4, 5);
    _tile_dpbssd(2, 4, 5);
    _tile_dpbssd(3, 4, 5);
  }
  _tile_release();
  return 4 * 2.0 * 16 * 16 * 64 * static_cast<double>(rounds);
}

/// Bits of CPUID leaf 7; zero where the CPU has no such leaf.
struct Leaf7 {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  explicit Leaf7(unsigned sub) { __get_cpuid_count(7, sub, &eax, &ebx, &ecx, &edx); }
};
bool bit(unsigned word, int n) { return (word >> n & 1u) != 0; }

#endif

PeakRate timed(const char* type, const char* units, Loop loop, int threads, double seconds) {
  const double operations = loop(kUnit) * threads;
  const double rate = best_rate(threads, seconds, [&](int, std::int64_t rounds) { loop(rounds * kUnit); });
  return {type, units, 1e-9 * operations * rate};
}

}  // namespace

#if defined(__x86_64__)

bool amx_permitted() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // arch_prctl(2)
  return bit(Leaf7(0).edx, 24) && ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

std::vector<PeakRate> measure_peak_rates(int threads, double seconds) {
  const bool wide = __builtin_cpu_supports("avx512f");
  const bool fused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const char* units = wide ? "AVX-512" : fused ? "AVX2" : "SSE2";
  std::vector<PeakRate> out;
  out.push_back(timed("f64", units, wide ? f64_64 : fused ? f64_32 : f64_16, threads, seconds));
  out.push_back({"f32", units, measure_peak_gflops(threads, seconds)});
  const Leaf7 first(0), second(1);
  const auto add = [&](bool has, const char* type, const char* with, Loop loop) {
    if (has) out.push_back(timed(type, with, loop, threads, seconds));
  };
  add(wide && bit(second.eax, 5), "bf16", "AVX-512", bf16_64);
#if !defined(__clang__)
  add(wide && bit(first.edx, 23), "f16", "AVX-512", f16_64);
#endif
  add(wide && bit(first.ecx, 11), "i8", "AVX-512", i8_64);
  if (!amx_permitted()) return out;
  add(bit(first.edx, 22), "bf16", "AMX", bf16_tiles);
  add(bit(first.edx, 25), "i8", "AMX", i8_tiles);
  return out;
}

#else

bool amx_permitted() { return false; }

std::vector<PeakRate> measure_peak_rates(int threads, double seconds) {
  return {timed("f64", "128 bits", f64_16, threads, seconds),
          {"f32", "128 bits", measure_peak_gflops(threads, seconds)}};
}

#endif

}  // namespace tightloop::backends::cpu
