// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/backends/cpu/windows/convolve.h>
#include <tightloop/backends/cpu/windows/pool.h>
#include <tightloop/backends/cpu/windows/window_kernel.h>
#include <tightloop/ops/index.h>

namespace tightloop::backends::cpu {
namespace {

std::int64_t plane(const Shape& s) {
  std::int64_t n = 1;
  for (std::size_t d = 2; d < s.rank(); ++d) n *= s[d].factor;
  return n;
}

template <class T>
void gather_plane(const T* x, std::int64_t size, const std::int32_t* index, std::int64_t count, T* y) {
  for (std::int64_t i = 0; i < count; ++i) y[i] = index[i] >= 0 && index[i] < size ? x[index[i]] : T(0);
}

template <class T>
void scatter_plane(const std::int32_t* index, const T* y, std::int64_t count, T* x, std::int64_t size) {
  std::fill_n(x, size, T(0));
  for (std::int64_t i = 0; i < count; ++i)
    if (index[i] >= 0 && index[i] < size) x[index[i]] += y[i];
}

}  // namespace

WindowKernel::WindowKernel(const ir::Node& n)
    : dtype_(n.op == &ops::window_argmax_op() ? n.inputs[0].dtype() : n.type.dtype) {
  const Shape &a = n.inputs[0].shape(), &out = n.type.shape;
  work_ = n.op == &ops::convolution_op()              ? Work::convolution
          : n.op == &ops::convolution_input_grad_op() ? Work::input_grad
          : n.op == &ops::window_argmax_op()          ? Work::argmax
          : n.op == &ops::window_sum_op()             ? Work::sum
          : n.op == &ops::window_spread_op()          ? Work::spread
          : n.op == &ops::plane_gather_op()           ? Work::gather
          : n.op == &ops::plane_scatter_op()          ? Work::scatter
                                                      : Work::weight_grad;
  if (work_ == Work::convolution || work_ == Work::input_grad || work_ == Work::weight_grad) {
    convolution_ = convolution_of(n);
    if (is_weight_pieces(&n)) pieces_ = out[0].factor;
    return;
  }
  channels_ = out[1].factor;
  in_ = plane(a);
  out_ = plane(out);
  if (work_ == Work::spread)
    dims_ = ops::window_dims(out, a, n.attrs);
  else if (work_ == Work::argmax || work_ == Work::sum)
    dims_ = ops::window_dims(a, out, n.attrs);
}

std::int64_t WindowKernel::items(std::int64_t batch) const {
  switch (work_) {
    case Work::convolution:
      return batch * convolution_.out;
    case Work::input_grad:
      return batch * convolution_.in;
    case Work::weight_grad:
      return pieces_ * convolution_.out;
    default:
      return batch * channels_;
  }
}

template <class T>
void WindowKernel::run_typed(std::int64_t batch, const void* a, const void* b, void* out, std::int64_t begin,
                             std::int64_t end) const {
  const T *x = static_cast<const T*>(a), *w = static_cast<const T*>(b);
  T* y = static_cast<T*>(out);
  const ops::ConvolutionShape& s = convolution_;
  const std::int64_t rows = (batch + pieces_ - 1) / pieces_;
  for (std::int64_t i = begin; i < end; ++i) switch (work_) {
      case Work::convolution:
        convolve_plane(s, x, w, y, i / s.out, i % s.out);
        break;
      case Work::input_grad:
        input_grad_plane(s, x, w, y, i / s.in, i % s.in);
        break;
      case Work::weight_grad: {
        const std::int64_t first = std::min(batch, i / s.out * rows);
        weight_grad_channel(s, x, w, y + i * (s.weights() / s.out), i % s.out, first,
                            std::min(batch, first + rows));
        break;
      }
      case Work::argmax:
        argmax_plane(dims_, x + i * in_, static_cast<std::int32_t*>(out) + i * out_);
        break;
      case Work::sum:
        sum_plane(dims_, x + i * in_, y + i * out_);
        break;
      case Work::spread:
        spread_plane(dims_, x + i * in_, y + i * out_);
        break;
      case Work::gather:
        gather_plane(x + i * in_, in_, static_cast<const std::int32_t*>(b) + i * out_, out_, y + i * out_);
        break;
      case Work::scatter:
        scatter_plane(static_cast<const std::int32_t*>(a) + i * in_, w + i * in_, in_, y + i * out_, out_);
        break;
    }
}

void WindowKernel::run(std::int64_t batch, const void* a, const void* b, void* out, std::int64_t part,
                       std::int64_t parts) const {
  const std::int64_t all = items(batch), begin = all * part / parts, end = all * (part + 1) / parts;
  if (dtype_ == DType::f32)
    run_typed<float>(batch, a, b, out, begin, end);
  else
    run_typed<double>(batch, a, b, out, begin, end);
}

}  // namespace tightloop::backends::cpu
