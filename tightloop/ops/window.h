// SPDX-License-Identifier: Apache-2.0
#pragma once
// What convolutions and pooling share: where their windows lie. Spatial dims follow batch and channels; there
// are one to three, and walks fill them up to three with dims of 1 in front.
#include <tightloop/ops/rules.h>

#include <algorithm>
#include <array>

namespace tightloop::ops {

/// One spatial dim. Result o reads inputs o·stride - low + k·dilation for k in 0..size-1, those that exist.
/// Adaptive: it reads inputs ⌊o·in/out⌋ up to, without, ⌈(o+1)·in/out⌉ (torch.nn.AdaptiveAvgPool).
struct WindowDim {
  std::int64_t in = 1, out = 1, size = 1, stride = 1, low = 0, dilation = 1;
  bool adaptive = false;

  struct Range {
    std::int64_t begin, end, step;
  };
  /// The inputs that result `o` reads.
  Range reads(std::int64_t o) const {
    if (adaptive) return {o * in / out, ((o + 1) * in + out - 1) / out, 1};
    const std::int64_t first = o * stride - low;
    const std::int64_t before = first < 0 ? (-first + dilation - 1) / dilation : 0;
    return {first + before * dilation, std::min(in, first + (size - 1) * dilation + 1), dilation};
  }
  /// Which result reads tap k of its window where: inputs at = o·stride + offset.
  struct Tap {
    std::int64_t begin, end;  ///< the results for which that input exists
    std::int64_t offset;
  };
  Tap tap(std::int64_t k) const {
    const std::int64_t offset = k * dilation - low;
    const std::int64_t begin = offset < 0 ? (-offset + stride - 1) / stride : 0;
    const std::int64_t end = in <= offset ? 0 : (in - 1 - offset) / stride + 1;
    return {std::min(begin, out), std::max(std::min(begin, out), std::min(end, out)), offset};
  }
};

using WindowDims = std::array<WindowDim, 3>;

inline std::int64_t inputs_of(const WindowDims& d) { return d[0].in * d[1].in * d[2].in; }
inline std::int64_t outputs_of(const WindowDims& d) { return d[0].out * d[1].out * d[2].out; }
inline std::int64_t taps_of(const WindowDims& d) { return d[0].size * d[1].size * d[2].size; }

/// y [B, out, ...] = convolution of x [B, in, ...] with w [out, in/groups, ...], whichever of the three is
/// the result.
struct ConvolutionShape {
  Dim batch;
  std::int64_t in = 1, out = 1, groups = 1;
  WindowDims dims;
  std::size_t spatial = 1;  ///< how many of the dims are meant, counted from the last

  std::int64_t in_a_group() const { return in / groups; }
  std::int64_t out_a_group() const { return out / groups; }
  std::int64_t weights() const { return out * in_a_group() * taps_of(dims); }
  /// Multiplications for one sample (those with padding included).
  std::int64_t products() const { return outputs_of(dims) * weights(); }
};
ConvolutionShape convolution_shape(const Shape& x, const Shape& w, const Shape& y, const ir::Attrs& attrs);
/// Of a node of one of the three convolution ops.
ConvolutionShape convolution_shape(const ir::Node& n);

/// Of a pooling op that makes [B, C, out...] of [B, C, in...].
WindowDims window_dims(const Shape& in, const Shape& out, const ir::Attrs& attrs);

/// Floating-point operations of a window op: two a product, one a summand or comparison.
double window_flops(const ir::Node& n, const Sizes& sizes);

/// {"stride", "low", "high", "dilation", "groups"} / {"size", "stride", "low", "high", "dilation", "output"}
std::vector<ir::AttrSpec> convolution_attrs();
std::vector<ir::AttrSpec> pooling_attrs();

/// The type of the convolution of x with w.
TensorType convolved(const InferArgs& a, const TensorType& x, const TensorType& w);
/// [B, C, out...]: one element a window of x.
Shape windowed(const InferArgs& a, const TensorType& x);

/// Calls visit(x, w, y) with the offsets of every product of a convolution.
template <class Visit>
void each_product(const ConvolutionShape& s, std::int64_t batch, Visit visit) {
  const std::int64_t in = inputs_of(s.dims), out = outputs_of(s.dims), taps = taps_of(s.dims);
  const auto& [depth, height, width] = s.dims;
  for (std::int64_t bo = 0; bo < batch * s.out; ++bo)
    for (std::int64_t c = 0; c < s.in_a_group(); ++c) {
      const std::int64_t b = bo / s.out, o = bo % s.out;
      const std::int64_t channel = b * s.in + o / s.out_a_group() * s.in_a_group() + c;
      for (std::int64_t k = 0; k < taps; ++k) {
        const auto d = depth.tap(k / (height.size * width.size));
        const auto h = height.tap(k / width.size % height.size);
        const auto w = width.tap(k % width.size);
        for (std::int64_t i = d.begin; i < d.end; ++i)
          for (std::int64_t j = h.begin; j < h.end; ++j)
            for (std::int64_t l = w.begin; l < w.end; ++l)
              visit(
                  channel * in +
                      ((i * depth.stride + d.offset) * height.in + j * height.stride + h.offset) * width.in +
                      l * width.stride + w.offset,
                  (o * s.in_a_group() + c) * taps + k, bo * out + (i * height.out + j) * width.out + l);
      }
    }
}

/// Calls visit(input, result) with the offsets in one plane of everything that pooling windows read; a
/// window's inputs in their order.
template <class Visit>
void each_read(const WindowDims& dims, Visit visit) {
  const auto& [depth, height, width] = dims;
  std::int64_t o = 0;
  for (std::int64_t d = 0; d < depth.out; ++d)
    for (std::int64_t h = 0; h < height.out; ++h)
      for (std::int64_t w = 0; w < width.out; ++w, ++o) {
        const auto ds = depth.reads(d), hs = height.reads(h), ws = width.reads(w);
        for (std::int64_t i = ds.begin; i < ds.end; i += ds.step)
          for (std::int64_t j = hs.begin; j < hs.end; j += hs.step)
            for (std::int64_t k = ws.begin; k < ws.end; k += ws.step)
              visit((i * height.in + j) * width.in + k, o);
      }
}

/// The elements as double, and back.
std::vector<double> values_of(const Array& a);
void store(const std::vector<double>& values, Array& out);

/// Samples of the convolution ops: `make` takes the types of x, w and y and the attributes.
Samples convolution_samples(Sample (*make)(const TensorType& x, const TensorType& w, const TensorType& y,
                                           const ir::Attrs& attrs));
/// Samples of the pooling ops: `make` takes the types of x and y and the attributes.
Samples pooling_samples(Sample (*make)(const TensorType& x, const TensorType& y, const ir::Attrs& attrs));

}  // namespace tightloop::ops
