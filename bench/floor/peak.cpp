// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most: f32 multiply-adds from registers, with the widest vectors the CPU has,
// and read bandwidth from each cache level and memory, for 1..n threads. Prints one JSON object.
//
//   g++ -std=c++20 -O3 -march=native -ffp-contract=fast -pthread peak.cpp -o peak && ./peak [threads
//   [memory]]
// With "memory", the bandwidths too.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <int Bytes>
struct Vector {
  typedef float type __attribute__((vector_size(Bytes)));
};

// 12 chains of multiply-adds hide the latency of two units and fit any register file; returns those of one
// lane.
template <int Bytes>
__attribute__((always_inline)) inline double multiply_adds(std::int64_t rounds) {
  using V = typename Vector<Bytes>::type;
  constexpr int kChains = 12;
  V acc[kChains], a = V{} + 0.999f, b = V{} + 0.001f;
  for (int c = 0; c < kChains; ++c) acc[c] = V{} + float(c + 2);  // not 1, which a, b map to itself
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) acc[c] = acc[c] * a + b;
  }
  V sum{};
  for (int c = 0; c < kChains; ++c) sum += acc[c];
  volatile float sink = sum[0];
  (void)sink;
  return double(rounds) * kChains;
}

// Sums `n` floats `repeats` times; eight chains, loads only.
template <int Bytes>
__attribute__((always_inline)) inline float read_all(const float* data, std::size_t n, int repeats) {
  using V = typename Vector<Bytes>::type;
  constexpr std::size_t kLanes = Bytes / sizeof(float);
  V acc[8] = {};
  for (int r = 0; r < repeats; ++r) {
    const V* p = reinterpret_cast<const V*>(data);
    for (std::size_t i = 0; i < n / kLanes; i += 8)
#pragma GCC unroll 8
      for (int c = 0; c < 8; ++c) acc[c] += p[i + c];
    asm volatile("" ::: "memory");
  }
  V sum{};
  for (int c = 0; c < 8; ++c) sum += acc[c];
  return sum[0];
}

struct Machine {
  const char* isa;
  int lanes;
  double (*multiply_adds)(std::int64_t);
  float (*read)(const float*, std::size_t, int);
};

#if defined(__x86_64__)
__attribute__((target("avx512f,fma"))) double fma512(std::int64_t r) { return multiply_adds<64>(r); }
__attribute__((target("avx512f,fma"))) float read512(const float* p, std::size_t n, int k) {
  return read_all<64>(p, n, k);
}
__attribute__((target("avx2,fma"))) double fma256(std::int64_t r) { return multiply_adds<32>(r); }
__attribute__((target("avx2,fma"))) float read256(const float* p, std::size_t n, int k) {
  return read_all<32>(p, n, k);
}
#endif
double fma128(std::int64_t r) { return multiply_adds<16>(r); }
float read128(const float* p, std::size_t n, int k) { return read_all<16>(p, n, k); }

Machine widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512f", 16, fma512, read512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return {"avx2+fma", 8, fma256, read256};
#endif
  return {"128-bit", 4, fma128, read128};
}

// Runs `work(thread)` on `threads` threads that start together, one per CPU; returns the seconds of the
// slowest.
template <class Work>
double together(int threads, Work work) {
  std::atomic<int> ready{0};
  std::vector<double> seconds(threads);
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      ++ready;
      while (ready.load() < threads) std::this_thread::yield();
      const auto start = Clock::now();
      work(t);
      seconds[t] = seconds_since(start);
    });
  for (auto& member : team) member.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

double peak_gflops(const Machine& machine, int threads) {
  constexpr std::int64_t kRounds = 2'000'000;  // some 10 ms
  double best = 0;
  for (int trial = 0; trial < 15; ++trial) {
    double fmas = 0;
    const double s = together(threads, [&](int t) {
      const double done = machine.multiply_adds(kRounds);
      if (t == 0) fmas = done;
    });
    best = std::max(best, 2 * fmas * machine.lanes * threads / s * 1e-9);
  }
  return best;
}

double read_gbytes(const Machine& machine, int threads, std::size_t bytes) {
  const std::size_t n = bytes / sizeof(float);
  std::vector<float*> data(threads);
  for (auto& d : data) {
    d = static_cast<float*>(std::aligned_alloc(2 << 20, std::max<std::size_t>(bytes, 2 << 20)));
    std::fill(d, d + n, 1.0f);
  }
  const int repeats = std::max<int>(2, int(200'000'000 / bytes));
  double best = 0;
  std::atomic<int> sink{0};
  for (int trial = 0; trial < 7; ++trial) {
    const double s = together(threads, [&](int t) { sink += machine.read(data[t], n, repeats) > 0; });
    best = std::max(best, double(bytes) * repeats * threads / s * 1e-9);
  }
  for (auto& d : data) std::free(d);
  return best;
}

int cpus() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

template <class Measure>
std::string list(int threads, Measure measure) {
  std::string text = "[";
  for (int t = 1; t <= threads; ++t) {
    char number[32];
    std::snprintf(number, sizeof number, "%s%.1f", t > 1 ? ", " : "", measure(t));
    text += number;
  }
  return text + "]";
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::max(1, std::atoi(argv[1])) : cpus();
  const Machine machine = widest();
  std::printf("{\"isa\": \"%s\", \"peak_gflops\": %s", machine.isa,
              list(threads, [&](int t) { return peak_gflops(machine, t); }).c_str());
  if (argc > 2) {
    const char* open = ", \"read_gbytes_per_s\": {";
    for (const int kib : {16, 512, 8 << 10, 512 << 10}) {
      const auto read = [&](int t) { return read_gbytes(machine, t, std::size_t(kib) << 10); };
      std::printf("%s\"%d KiB\": %s", open, kib, list(threads, read).c_str());
      open = ", ";
    }
    std::printf("}");
  }
  std::printf("}\n");
}
