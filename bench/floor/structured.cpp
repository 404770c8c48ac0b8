// SPDX-License-Identifier: Apache-2.0
// The structured network of the design, its whole training loop written by hand, one thread:
//   y = x·w + par·f   (x: [B, 40], w: [40], par, f: scalars),  MSE,  Adam 5e-4,  B = 128, rows in order.
// Row i of x is 40 consecutive integers from 40·i, f = y = i, 38,400 rows, 300 epochs.
// This is the floor that the code generator is measured against; it prints one JSON object.
//
//   g++ -std=c++20 -O3 -march=native -ffp-contract=fast -pthread structured.cpp -o structured
//   ./structured [epochs [threads]]
//
// One thread is bound by reading x: 21.5 kB a step from a data set larger than the second-level cache. Two
// threads (AVX-512 only) take half of each batch, exchange 42 sums a step, and both apply the same update.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

constexpr int kFeatures = 40;
constexpr int kRows = 38400;
constexpr int kBatch = 128;
constexpr int kSteps = kRows / kBatch;
constexpr int kPadded = 48;  // 40 weights, par at 40, zeros to a whole number of vectors

struct Data {
  float* x;  // [kRows, 40]
  float* f;  // [kRows]
  float* y;  // [kRows]
};

// Parameters and Adam's moments: PyTorch's rule and defaults (betas .9 and .999, eps 1e-8).
struct State {
  alignas(64) float p[kPadded] = {};
  alignas(64) float m[kPadded] = {};
  alignas(64) float v[kPadded] = {};
  double beta1_t = 1, beta2_t = 1;
};

struct StepSizes {
  float rate;        // lr / (1 - beta1^t)
  float root_scale;  // 1 / sqrt(1 - beta2^t)
};

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kLearningRate = 5e-4;
constexpr float kEpsilon = 1e-8f;

StepSizes advance(State& s) {
  s.beta1_t *= kBeta1;
  s.beta2_t *= kBeta2;
  return {float(kLearningRate / (1 - s.beta1_t)), float(1 / std::sqrt(1 - s.beta2_t))};
}

// The starting weights: any fixed numbers do; those a peer can repeat exactly.
void initialise(State& s) {
  for (int j = 0; j < kFeatures; ++j) s.p[j] = float((j * 37 % 41) - 20) / 128.0f;
}

template <class T>
T* aligned(std::size_t n) {
  return static_cast<T*>(std::aligned_alloc(2 << 20, (n * sizeof(T) + (2 << 20) - 1) >> 21 << 21));
}

Data make_data() {
  Data d{aligned<float>(std::size_t(kRows) * kFeatures), aligned<float>(kRows), aligned<float>(kRows)};
  for (int i = 0; i < kRows * kFeatures; ++i) d.x[i] = float(i);
  for (int i = 0; i < kRows; ++i) d.f[i] = d.y[i] = float(i);
  return d;
}

// Plain loops, for CPUs without AVX-512. Returns the sum of squared errors of the batch.
float step_plain(const float* x, const float* f, const float* y, State& s) {
  float g[kFeatures] = {}, par_gradient = 0, loss = 0;
  for (int i = 0; i < kBatch; ++i, x += kFeatures) {
    float lanes[8] = {};
    for (int j = 0; j < kFeatures; j += 8)
      for (int k = 0; k < 8; ++k) lanes[k] += x[j + k] * s.p[j + k];
    const float dot =
        ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
    const float error = dot + s.p[kFeatures] * f[i] - y[i];
    for (int j = 0; j < kFeatures; ++j) g[j] += error * x[j];
    par_gradient += error * f[i];
    loss += error * error;
  }
  const StepSizes size = advance(s);
  for (int j = 0; j <= kFeatures; ++j) {
    const float gradient = (j < kFeatures ? g[j] : par_gradient) * (2.0f / kBatch);
    s.m[j] += (gradient - s.m[j]) * float(1 - kBeta1);
    s.v[j] = s.v[j] * float(kBeta2) + gradient * gradient * float(1 - kBeta2);
    s.p[j] -= size.rate * s.m[j] / (std::sqrt(s.v[j]) * size.root_scale + kEpsilon);
  }
  return loss;
}

#if defined(__x86_64__)
#define FEATURES "avx512f,avx512dq,avx512vl,avx512bw,fma"
#define AVX512 __attribute__((target(FEATURES), always_inline)) inline

// The levels of the transposing reduction: each turns two vectors of partial sums into one.
AVX512 __m512 fold_quarters(__m512 a, __m512 b) {
  return _mm512_shuffle_f32x4(a, b, 0x88) + _mm512_shuffle_f32x4(a, b, 0xDD);
}
AVX512 __m512 fold_pairs(__m512 a, __m512 b) {
  return _mm512_shuffle_ps(a, b, 0x44) + _mm512_shuffle_ps(a, b, 0xEE);
}
AVX512 __m512 fold_lanes(__m512 a, __m512 b) {
  return _mm512_shuffle_ps(a, b, 0x88) + _mm512_shuffle_ps(a, b, 0xDD);
}

// 40 floats are two and a half vectors, so a pair of rows is exactly five, all aligned:
//   [r0 0-15] [r0 16-31] [r0 32-39 | r1 0-7] [r1 8-23] [r1 24-39]
// The weights and the gradient are kept in that layout; nothing is wasted and nothing straddles a cache line.
struct PairWeights {
  __m512 w[5];
};

AVX512 PairWeights pair_layout(const float* p) {
  const __m512 head =
      _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_load_ps(p + 32)), _mm256_load_ps(p), 1);
  return {{_mm512_load_ps(p), _mm512_load_ps(p + 16), head, _mm512_loadu_ps(p + 8), _mm512_loadu_ps(p + 24)}};
}

// Sums of one pair: one vector whose lower eight lanes belong to row 0 and the upper eight to row 1.
AVX512 __m512 pair_products(const float* x, const PairWeights& w) {
  const __m512 a = _mm512_fmadd_ps(_mm512_load_ps(x + 16), w.w[1], _mm512_load_ps(x) * w.w[0]);
  const __m512 b = _mm512_fmadd_ps(_mm512_load_ps(x + 64), w.w[4], _mm512_load_ps(x + 48) * w.w[3]);
  const __m512 halves = _mm512_mask_blend_ps(0xFF00, a, b) + _mm512_shuffle_f32x4(a, b, 0x4E);
  return _mm512_fmadd_ps(_mm512_load_ps(x + 32), w.w[2], halves);
}

// The dot products of sixteen rows, in the order that the folds leave (sum_rows restores the rows').
AVX512 __m512 dots16(const float* x, const PairWeights& w) {
  __m512 s[8];
  for (int i = 0; i < 8; ++i) s[i] = pair_products(x + i * 2 * kFeatures, w);
  const __m512 q0 = fold_quarters(s[0], s[1]), q1 = fold_quarters(s[2], s[3]);
  const __m512 q2 = fold_quarters(s[4], s[5]), q3 = fold_quarters(s[6], s[7]);
  return fold_lanes(fold_pairs(q0, q1), fold_pairs(q2, q3));
}

// What a step needs of its rows: 40 sums of error·x, then error·f in lane 40, error² in lane 41.
struct Sums {
  __m512 v[3];
};

AVX512 Sums sum_rows(const float* x, const float* f, const float* y, int rows, const State& s) {
  // Quarter q of a folded vector holds rows {q, q+4, q+8, q+12} of (2·pair + half); one permute restores
  // order.
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  const PairWeights w = pair_layout(s.p);
  const __m512 par = _mm512_set1_ps(s.p[kFeatures]);
  __m512 g[5] = {}, loss = {}, par_gradient = {};
  alignas(64) float errors[16];

  for (int i = 0; i < rows; i += 16) {
    const float* block = x + i * kFeatures;
    const __m512 fs = _mm512_load_ps(f + i);
    const __m512 dots = _mm512_permutexvar_ps(order, dots16(block, w));
    const __m512 error = _mm512_fmadd_ps(par, fs, dots) - _mm512_load_ps(y + i);
    loss = _mm512_fmadd_ps(error, error, loss);
    par_gradient = _mm512_fmadd_ps(error, fs, par_gradient);
    _mm512_store_ps(errors, error);
    for (int r = 0; r < 16; r += 2) {
      const float* pair = block + r * kFeatures;
      const __m512 e0 = _mm512_set1_ps(errors[r]), e1 = _mm512_set1_ps(errors[r + 1]);
      g[0] = _mm512_fmadd_ps(_mm512_load_ps(pair), e0, g[0]);
      g[1] = _mm512_fmadd_ps(_mm512_load_ps(pair + 16), e0, g[1]);
      g[2] = _mm512_fmadd_ps(_mm512_load_ps(pair + 32), _mm512_mask_blend_ps(0xFF00, e0, e1), g[2]);
      g[3] = _mm512_fmadd_ps(_mm512_load_ps(pair + 48), e1, g[3]);
      g[4] = _mm512_fmadd_ps(_mm512_load_ps(pair + 64), e1, g[4]);
    }
  }

  // Row 1's half of the pair layout is added to row 0's: [8-23], [24-39] shifted by eight lanes.
  const __m512 g3 = _mm512_shuffle_f32x4(g[3], g[3], 0x4E), g4 = _mm512_shuffle_f32x4(g[4], g[4], 0x4E);
  Sums sums;
  sums.v[0] = g[0] + _mm512_mask_blend_ps(0xFF00, _mm512_shuffle_f32x4(g[2], g[2], 0x4E), g3);
  sums.v[1] = g[1] + _mm512_mask_blend_ps(0xFF00, g3, g4);
  sums.v[2] = _mm512_maskz_mov_ps(0xFF, g[2] + g4);
  sums.v[2] = _mm512_mask_mov_ps(sums.v[2], 1 << 8, _mm512_set1_ps(_mm512_reduce_add_ps(par_gradient)));
  sums.v[2] = _mm512_mask_mov_ps(sums.v[2], 1 << 9, _mm512_set1_ps(_mm512_reduce_add_ps(loss)));
  return sums;
}

AVX512 float update(State& s, Sums sums) {
  const float loss = sums.v[2][9];
  sums.v[2] = _mm512_maskz_mov_ps(0x1FF, sums.v[2]);
  const StepSizes size = advance(s);
  const __m512 rate = _mm512_set1_ps(size.rate), root_scale = _mm512_set1_ps(size.root_scale);
  for (int k = 0; k < 3; ++k) {
    const __m512 g = sums.v[k] * _mm512_set1_ps(2.0f / kBatch);
    __m512 m = _mm512_load_ps(s.m + 16 * k), v = _mm512_load_ps(s.v + 16 * k);
    m = _mm512_fmadd_ps(g - m, _mm512_set1_ps(float(1 - kBeta1)), m);
    v = _mm512_fmadd_ps(g * g, _mm512_set1_ps(float(1 - kBeta2)), v * _mm512_set1_ps(float(kBeta2)));
    const __m512 root = _mm512_fmadd_ps(_mm512_sqrt_ps(v), root_scale, _mm512_set1_ps(kEpsilon));
    _mm512_store_ps(s.m + 16 * k, m);
    _mm512_store_ps(s.v + 16 * k, v);
    _mm512_store_ps(s.p + 16 * k,
                    _mm512_fnmadd_ps(rate, _mm512_div_ps(m, root), _mm512_load_ps(s.p + 16 * k)));
  }
  return loss;
}

__attribute__((target(FEATURES))) float step_avx512(const float* x, const float* f, const float* y,
                                                    State& s) {
  return update(s, sum_rows(x, f, y, kBatch, s));
}

// Where two threads leave their sums for each other. Lane 47 carries the step's number and is written last,
// so whoever reads it sees the rest (x86 keeps the order of stores). Two sets in turn: nobody is two steps
// ahead.
struct Exchange {
  alignas(256) float sums[2][2][64] = {};
  std::atomic<int> arrived{0};
};

AVX512 Sums add_other_half(Exchange& exchange, int member, int step, const Sums& mine) {
  auto& set = exchange.sums[step & 1];
  _mm512_store_ps(set[member], mine.v[0]);
  _mm512_store_ps(set[member] + 16, mine.v[1]);
  asm volatile("" ::: "memory");
  const __m512 number = _mm512_castsi512_ps(_mm512_set1_epi32(step));
  _mm512_store_ps(set[member] + 32, _mm512_mask_mov_ps(mine.v[2], 1 << 15, number));
  const auto* other = reinterpret_cast<const std::atomic<int>*>(set[1 - member] + 47);
  while (other->load(std::memory_order_acquire) != step) {
  }
  Sums both;
  for (int k = 0; k < 3; ++k) both.v[k] = _mm512_load_ps(set[0] + 16 * k) + _mm512_load_ps(set[1] + 16 * k);
  return both;
}

__attribute__((target(FEATURES))) float half_step_avx512(Exchange& exchange, int member, int step,
                                                         const float* x, const float* f, const float* y,
                                                         State& s) {
  constexpr int kHalf = kBatch / 2;
  const int first = member * kHalf;
  const Sums mine = sum_rows(x + first * kFeatures, f + first, y + first, kHalf, s);
  return update(s, add_other_half(exchange, member, step, mine));
}

bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#else
bool has_avx512() { return false; }
#endif

struct Run {
  std::vector<double> us_per_step;  // by epoch
  double first_loss = 0, last_loss = 0;
  State state;
};

// `step(number from 1, x, f, y, state)` over all epochs.
template <class Step>
void train(Run& run, const Data& d, int epochs, Step step) {
  using Clock = std::chrono::steady_clock;
  initialise(run.state);
  for (int e = 0, number = 0; e < epochs; ++e) {
    const auto start = Clock::now();
    double total = 0;
    for (std::size_t row = 0; row < kRows; row += kBatch)
      total += step(++number, d.x + row * kFeatures, d.f + row, d.y + row, run.state);
    run.us_per_step.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() /
                              kSteps);
    run.last_loss = total / kRows;
    if (e == 0) run.first_loss = run.last_loss;
  }
}

void train_two(Run& run, const Data& data, int epochs) {
#if defined(__x86_64__)
  Exchange exchange;
  const auto member = [&](int m, Run& r) {
    train(r, data, epochs, [&, m](int number, const float* x, const float* f, const float* y, State& s) {
      return half_step_avx512(exchange, m, number, x, f, y, s);
    });
  };
  Run other;
  std::thread second([&] { member(1, other); });
  member(0, run);
  second.join();
#else
  (void)run, (void)data, (void)epochs;
#endif
}

void train_one(Run& run, const Data& data, int epochs, bool wide) {
  auto step = step_plain;
#if defined(__x86_64__)
  if (wide) step = step_avx512;
#endif
  (void)wide;
  train(run, data, epochs,
        [&](int, const float* x, const float* f, const float* y, State& s) { return step(x, f, y, s); });
}

}  // namespace

int main(int argc, char** argv) {
  const int epochs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 300;
  const bool wide = has_avx512() && std::getenv("FLOOR_PLAIN") == nullptr;
  const int threads = wide && argc > 2 && std::atoi(argv[2]) == 2 ? 2 : 1;
  const Data data = make_data();
  Run run;
  if (threads == 2)
    train_two(run, data, epochs);
  else
    train_one(run, data, epochs, wide);
  auto& times = run.us_per_step;
  std::sort(times.begin(), times.end());
  std::printf(
      "{\"isa\": \"%s\", \"threads\": %d, \"steps\": %d, \"us_per_step\": %.4f, \"us_per_step_min\": %.4f, "
      "\"first_epoch_loss\": %.9g, \"final_loss\": %.9g, \"par\": %.9g}\n",
      wide ? "avx512" : "plain", threads, epochs * kSteps, times[times.size() / 2], times[0], run.first_loss,
      run.last_loss, run.state.p[kFeatures]);
}
