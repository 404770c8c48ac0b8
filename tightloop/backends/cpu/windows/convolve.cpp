// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/windows/convolve.h>
#include <tightloop/backends/cpu/windows/widest.h>

namespace tightloop::backends::cpu {
namespace {

using ops::ConvolutionShape;
using ops::WindowDim;
using I = std::int64_t;

/// y[i] += w · x[i·stride]
template <class T>
[[gnu::always_inline]] inline void add_scaled(T* y, const T* x, T w, I n, I stride) {
  if (stride == 1) {
#pragma omp simd
    for (I i = 0; i < n; ++i) y[i] += w * x[i];
  } else {
#pragma omp simd
    for (I i = 0; i < n; ++i) y[i] += w * x[i * stride];
  }
}

/// x[i·stride] += w · y[i]
template <class T>
[[gnu::always_inline]] inline void add_spread(T* x, const T* y, T w, I n, I stride) {
  if (stride == 1) return add_scaled(x, y, w, n, 1);
#pragma omp simd
  for (I i = 0; i < n; ++i) x[i * stride] += w * y[i];
}

template <class T>
[[gnu::always_inline]] inline T dot(const T* y, const T* x, I n, I stride) {
  T sum = 0;
  if (stride == 1) {
#pragma omp simd reduction(+ : sum)
    for (I i = 0; i < n; ++i) sum += y[i] * x[i];
  } else {
#pragma omp simd reduction(+ : sum)
    for (I i = 0; i < n; ++i) sum += y[i] * x[i * stride];
  }
  return sum;
}

/// Calls row(k, x offset, y offset, count) for tap k of every row of one pair of planes.
template <class Row>
[[gnu::always_inline]] inline void each_row(const ConvolutionShape& s, Row row) {
  const auto& [depth, height, width] = s.dims;
  I k = 0;
  for (I kd = 0; kd < depth.size; ++kd)
    for (I kh = 0; kh < height.size; ++kh)
      for (I kw = 0; kw < width.size; ++kw, ++k) {
        const WindowDim::Tap d = depth.tap(kd), h = height.tap(kh), w = width.tap(kw);
        if (w.begin >= w.end) continue;
        for (I i = d.begin; i < d.end; ++i)
          for (I j = h.begin; j < h.end; ++j)
            row(k,
                ((i * depth.stride + d.offset) * height.in + j * height.stride + h.offset) * width.in +
                    w.begin * width.stride + w.offset,
                (i * height.out + j) * width.out + w.begin, w.end - w.begin);
      }
}

template <class T>
struct Forward {
  [[gnu::always_inline]] static void run(const ConvolutionShape* s, const T* x, const T* w, T* y, I b, I o) {
    const I in = inputs_of(s->dims), out = outputs_of(s->dims), taps = taps_of(s->dims),
            stride = s->dims[2].stride;
    y += (b * s->out + o) * out;
    w += o * s->in_a_group() * taps;
    x += (b * s->in + o / s->out_a_group() * s->in_a_group()) * in;
    std::fill_n(y, out, T(0));
    for (I c = 0; c < s->in_a_group(); ++c)
      each_row(
          *s, [&](I k, I from, I to, I n) __attribute__((always_inline)) {
            add_scaled(y + to, x + c * in + from, w[c * taps + k], n, stride);
          });
  }
};

template <class T>
struct InputGrad {
  [[gnu::always_inline]] static void run(const ConvolutionShape* s, const T* y, const T* w, T* x, I b, I c) {
    const I in = inputs_of(s->dims), out = outputs_of(s->dims), taps = taps_of(s->dims),
            stride = s->dims[2].stride;
    const I group = c / s->in_a_group(), own = c % s->in_a_group();
    x += (b * s->in + c) * in;
    std::fill_n(x, in, T(0));
    for (I o = group * s->out_a_group(); o < (group + 1) * s->out_a_group(); ++o) {
      const T* weights = w + (o * s->in_a_group() + own) * taps;
      const T* plane = y + (b * s->out + o) * out;
      each_row(
          *s, [&](I k, I to, I from, I n) __attribute__((always_inline)) {
            add_spread(x + to, plane + from, weights[k], n, stride);
          });
    }
  }
};

template <class T>
struct WeightGrad {
  [[gnu::always_inline]] static void run(const ConvolutionShape* s, const T* x, const T* y, T* w, I o,
                                         I first, I last) {
    const I in = inputs_of(s->dims), out = outputs_of(s->dims), taps = taps_of(s->dims),
            stride = s->dims[2].stride;
    const I channel = o / s->out_a_group() * s->in_a_group();
    std::fill_n(w, s->in_a_group() * taps, T(0));
    for (I b = first; b < last; ++b)
      for (I c = 0; c < s->in_a_group(); ++c) {
        const T* from = x + (b * s->in + channel + c) * in;
        const T* slopes = y + (b * s->out + o) * out;
        each_row(
            *s, [&](I k, I at, I to, I n) __attribute__((always_inline)) {
              w[c * taps + k] += dot(slopes + to, from + at, n, stride);
            });
      }
  }
};

}  // namespace

template <class T>
void convolve_plane(const ConvolutionShape& s, const T* x, const T* w, T* y, I b, I o) {
  widest<Forward<T>>(&s, x, w, y, b, o);
}

template <class T>
void input_grad_plane(const ConvolutionShape& s, const T* y, const T* w, T* x, I b, I c) {
  widest<InputGrad<T>>(&s, y, w, x, b, c);
}

template <class T>
void weight_grad_channel(const ConvolutionShape& s, const T* x, const T* y, T* w, I o, I first, I last) {
  widest<WeightGrad<T>>(&s, x, y, w, o, first, last);
}

template void convolve_plane(const ConvolutionShape&, const float*, const float*, float*, I, I);
template void convolve_plane(const ConvolutionShape&, const double*, const double*, double*, I, I);
template void input_grad_plane(const ConvolutionShape&, const float*, const float*, float*, I, I);
template void input_grad_plane(const ConvolutionShape&, const double*, const double*, double*, I, I);
template void weight_grad_channel(const ConvolutionShape&, const float*, const float*, float*, I, I, I);
template void weight_grad_channel(const ConvolutionShape&, const double*, const double*, double*, I, I, I);

}  // namespace tightloop::backends::cpu
