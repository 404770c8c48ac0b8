// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/functions_spatial.h>
#include <tightloop/ops/index.h>

#include <algorithm>

namespace tightloop {
namespace {

using namespace ops;
using ir::Ints;

/// Where the windows of a pooling lie.
struct Windows {
  Ints size, stride, padding, high, dilation;

  ir::Attrs attrs(const Ints& before, const Ints& after) const {
    return {{"size", size}, {"stride", stride}, {"low", before}, {"high", after}, {"dilation", dilation}};
  }
  ir::Attrs attrs() const { return attrs(padding, high); }
  std::int64_t taps() const { return product(size); }
};

std::size_t check_input(const char* function, const Tensor& x) {
  const auto is_empty = [](const Dim& d) { return !d.is_static() || d.factor == 0; };
  if (x.rank() < 3 || x.rank() > 5 || std::any_of(x.shape().begin() + 1, x.shape().end(), is_empty))
    throw Error(std::string(function) + ": x must be [B, C, ...] with one to three spatial dims, got " +
                to_string(x.type()));
  return x.rank() - 2;
}

Windows windows_of(const char* function, const Tensor& x, const PerDim& kernel,
                   const std::optional<PerDim>& stride, const PerDim& padding, const PerDim& dilation,
                   bool ceil_mode) {
  const std::size_t n = check_input(function, x);
  Windows w{kernel.of(function, "kernel", n),
            stride.value_or(kernel).of(function, "stride", n),
            padding.of(function, "padding", n, 0),
            {},
            dilation.of(function, "dilation", n)};
  w.high = w.padding;
  for (std::size_t d = 0; d < n; ++d) {
    if (2 * w.padding[d] > w.size[d])
      throw Error(std::string(function) + ": padding must be at most half the kernel (" + kernel.text() +
                  "), or windows could cover nothing but padding; got " + padding.text());
    const std::int64_t in = x.dim(d + 2).factor, extent = w.dilation[d] * (w.size[d] - 1) + 1;
    if (extent > in + 2 * w.padding[d])
      throw Error(std::string(function) + ": a window of " + std::to_string(extent) +
                  " does not fit into spatial dim " + std::to_string(d) + " of " + to_string(x.type()) +
                  " with padding " + padding.text());
    if (!ceil_mode) continue;
    std::int64_t out = (in + 2 * w.padding[d] - extent + w.stride[d] - 1) / w.stride[d] + 1;
    if ((out - 1) * w.stride[d] >= in + w.padding[d]) --out;
    w.high[d] = std::max(w.padding[d], (out - 1) * w.stride[d] + extent - in - w.padding[d]);
  }
  return w;
}

Tensor max_of(const Tensor& x, ir::Attrs attrs) {
  return ir::make_node(plane_gather_op(), {x, ir::make_node(window_argmax_op(), {x}, std::move(attrs))});
}

Tensor sum_of(const Tensor& x, ir::Attrs attrs) {
  return ir::make_node(window_sum_op(), {x}, std::move(attrs));
}

/// Ones [1, 1, ...] shaped as the planes of x with `more` elements a dim.
Tensor ones_like_plane(const Tensor& x, const Ints& more) {
  std::vector<Dim> dims{1, 1};
  for (std::size_t d = 2; d < x.rank(); ++d) dims.emplace_back(x.dim(d).factor + more[d - 2]);
  return ones(Shape(std::move(dims)), x.dtype());
}

ir::Attrs adaptive(const Ints& size) {
  return {{"size", Ints{}}, {"stride", Ints{}},   {"low", Ints{}},
          {"high", Ints{}}, {"dilation", Ints{}}, {"output", size}};
}

/// Equal windows, where the sizes divide.
std::optional<Ints> equal_windows(const Tensor& x, const Ints& size) {
  Ints kernel;
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (x.dim(d + 2).factor % size[d] != 0) return std::nullopt;
    kernel.push_back(x.dim(d + 2).factor / size[d]);
  }
  return kernel;
}

bool is_one(const Ints& size) {
  return std::all_of(size.begin(), size.end(), [](auto s) { return s == 1; });
}

}  // namespace

Tensor max_pool(Tensor x, const MaxPoolOptions& o) {
  x = floating(computable(std::move(x)));
  return max_of(x, windows_of("max_pool", x, o.kernel, o.stride, o.padding, o.dilation, o.ceil_mode).attrs());
}

Tensor avg_pool(Tensor x, const AvgPoolOptions& o) {
  x = floating(computable(std::move(x)));
  const Windows w = windows_of("avg_pool", x, o.kernel, o.stride, o.padding, 1, o.ceil_mode);
  const Tensor total = sum_of(x, w.attrs());
  const bool unpadded = std::all_of(w.high.begin(), w.high.end(), [](auto h) { return h == 0; });
  if (unpadded || (o.count_include_pad && w.high == w.padding))
    return total * (1.0 / static_cast<double>(w.taps()));
  const Ints none(w.size.size(), 0);
  if (!o.count_include_pad) return total / sum_of(ones_like_plane(x, none), w.attrs());
  // What a last window reads beyond the padding does not count.
  Ints both, beyond;
  for (std::size_t d = 0; d < w.size.size(); ++d) {
    both.push_back(2 * w.padding[d]);
    beyond.push_back(w.high[d] - w.padding[d]);
  }
  return total / sum_of(ones_like_plane(x, both), w.attrs(none, beyond));
}

Tensor adaptive_max_pool(Tensor x, const PerDim& size) {
  x = floating(computable(std::move(x)));
  const Ints out = size.of("adaptive_max_pool", "size", check_input("adaptive_max_pool", x));
  if (const auto kernel = equal_windows(x, out)) return max_pool(std::move(x), {.kernel = *kernel});
  return max_of(x, adaptive(out));
}

Tensor adaptive_avg_pool(Tensor x, const PerDim& size) {
  x = floating(computable(std::move(x)));
  const Ints out = size.of("adaptive_avg_pool", "size", check_input("adaptive_avg_pool", x));
  if (is_one(out)) {
    Axes axes;
    for (std::size_t d = 2; d < x.rank(); ++d) axes.push_back(static_cast<std::int64_t>(d));
    return mean(x, axes, true);
  }
  if (const auto kernel = equal_windows(x, out)) return avg_pool(std::move(x), {.kernel = *kernel});
  return sum_of(x, adaptive(out)) / sum_of(ones_like_plane(x, Ints(out.size(), 0)), adaptive(out));
}

}  // namespace tightloop
