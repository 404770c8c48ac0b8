// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/windows/pool.h>
#include <tightloop/backends/cpu/windows/widest.h>

#include <limits>

namespace tightloop::backends::cpu {
namespace {

using ops::WindowDim;
using ops::WindowDims;
using I = std::int64_t;

/// Results of a row that are worked on at a time.
constexpr I kBlock = 64;

/// Calls row(input offset, position of the result in its block, count, stride) for every tap of the windows
/// of results [begin, end) of row (d, h).
template <class Row>
[[gnu::always_inline]] inline void each_tap(const WindowDims& dims, I d, I h, I begin, I end, Row row) {
  const auto& [depth, height, width] = dims;
  const WindowDim::Range ds = depth.reads(d), hs = height.reads(h);
  for (I i = ds.begin; i < ds.end; i += ds.step)
    for (I j = hs.begin; j < hs.end; j += hs.step)
      for (I k = 0; k < width.size; ++k) {
        const WindowDim::Tap tap = width.tap(k);
        const I first = std::max(begin, tap.begin), last = std::min(end, tap.end);
        if (first < last)
          row((i * height.in + j) * width.in + first * width.stride + tap.offset, first - begin,
              last - first);
      }
}

/// Calls block(d, h, begin, end, offset of the first result).
template <class Block>
[[gnu::always_inline]] inline void each_block(const WindowDims& dims, Block block) {
  const auto& [depth, height, width] = dims;
  for (I d = 0; d < depth.out; ++d)
    for (I h = 0; h < height.out; ++h)
      for (I w = 0; w < width.out; w += kBlock)
        block(d, h, w, std::min(w + kBlock, width.out), (d * height.out + h) * width.out + w);
}

/// best and index take those of n elements x[i·stride], at position at + i·stride, that are greater.
template <class T>
[[gnu::always_inline]] inline void take_greater(T* best, std::int32_t* index, const T* x, I at, I n,
                                                I stride) {
  const auto step = static_cast<std::int32_t>(stride);
  const auto first = static_cast<std::int32_t>(at);
#pragma omp simd
  for (I i = 0; i < n; ++i) {
    const T v = x[i * stride], b = best[i];
    const bool take = (v > b) | (index[i] < 0) | ((v != v) & (b == b));
    best[i] = take ? v : b;
    index[i] = take ? first + static_cast<std::int32_t>(i) * step : index[i];
  }
}

template <class T>
struct Argmax {
  [[gnu::always_inline]] static void run(const WindowDims* dims, const T* x, std::int32_t* index) {
    const I stride = (*dims)[2].stride;
    each_block(
        *dims, [&](I d, I h, I begin, I end, I at) __attribute__((always_inline)) {
          T best[kBlock];
          std::int32_t where[kBlock];
          std::fill_n(best, kBlock, -std::numeric_limits<T>::infinity());
          std::fill_n(where, kBlock, -1);
          each_tap(
              *dims, d, h, begin, end, [&](I from, I to, I n) __attribute__((always_inline)) {
                if (stride == 1)
                  take_greater(best + to, where + to, x + from, from, n, 1);
                else if (stride == 2)
                  take_greater(best + to, where + to, x + from, from, n, 2);
                else
                  take_greater(best + to, where + to, x + from, from, n, stride);
              });
          std::copy_n(where, end - begin, index + at);
        });
  }
};

template <class T>
[[gnu::always_inline]] inline void add(T* sums, const T* x, I n, I stride) {
#pragma omp simd
  for (I i = 0; i < n; ++i) sums[i] += x[i * stride];
}

template <class T>
struct Sum {
  [[gnu::always_inline]] static void run(const WindowDims* dims, const T* x, T* y) {
    const I stride = (*dims)[2].stride;
    each_block(
        *dims, [&](I d, I h, I begin, I end, I at) __attribute__((always_inline)) {
          T sums[kBlock];
          std::fill_n(sums, kBlock, T(0));
          each_tap(
              *dims, d, h, begin, end, [&](I from, I to, I n) __attribute__((always_inline)) {
                if (stride == 1)
                  add(sums + to, x + from, n, 1);
                else if (stride == 2)
                  add(sums + to, x + from, n, 2);
                else
                  add(sums + to, x + from, n, stride);
              });
          std::copy_n(sums, end - begin, y + at);
        });
  }
};

template <class T>
[[gnu::always_inline]] inline void add_to(T* x, const T* y, I n, I stride) {
#pragma omp simd
  for (I i = 0; i < n; ++i) x[i * stride] += y[i];
}

template <class T>
struct Spread {
  [[gnu::always_inline]] static void run(const WindowDims* dims, const T* y, T* x) {
    const I stride = (*dims)[2].stride;
    std::fill_n(x, inputs_of(*dims), T(0));
    each_block(
        *dims, [&](I d, I h, I begin, I end, I at) __attribute__((always_inline)) {
          each_tap(
              *dims, d, h, begin, end, [&](I from, I to, I n) __attribute__((always_inline)) {
                if (stride == 1)
                  add_to(x + from, y + at + to, n, 1);
                else
                  add_to(x + from, y + at + to, n, stride);
              });
        });
  }
};

}  // namespace

template <class T>
void argmax_plane(const WindowDims& dims, const T* x, std::int32_t* index) {
  if (!dims[2].adaptive) return widest<Argmax<T>>(&dims, x, index);
  std::fill_n(index, outputs_of(dims), -1);
  ops::each_read(dims, [&](I i, I o) {
    const T v = x[i];
    if (index[o] < 0 || v > x[index[o]] || (v != v && x[index[o]] == x[index[o]]))
      index[o] = static_cast<std::int32_t>(i);
  });
}

template <class T>
void sum_plane(const WindowDims& dims, const T* x, T* y) {
  if (!dims[2].adaptive) return widest<Sum<T>>(&dims, x, y);
  std::fill_n(y, outputs_of(dims), T(0));
  ops::each_read(dims, [&](I i, I o) { y[o] += x[i]; });
}

template <class T>
void spread_plane(const WindowDims& dims, const T* y, T* x) {
  if (!dims[2].adaptive) return widest<Spread<T>>(&dims, y, x);
  std::fill_n(x, inputs_of(dims), T(0));
  ops::each_read(dims, [&](I i, I o) { x[i] += y[o]; });
}

template void argmax_plane(const WindowDims&, const float*, std::int32_t*);
template void argmax_plane(const WindowDims&, const double*, std::int32_t*);
template void sum_plane(const WindowDims&, const float*, float*);
template void sum_plane(const WindowDims&, const double*, double*);
template void spread_plane(const WindowDims&, const float*, float*);
template void spread_plane(const WindowDims&, const double*, double*);

}  // namespace tightloop::backends::cpu
