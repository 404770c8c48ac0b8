// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/functions_spatial.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <limits>

namespace tightloop {
namespace {

using namespace ops;
using ir::Ints;

[[noreturn]] void refuse(std::string_view function, const std::string& rule) {
  throw Error(std::string(function) + ": " + rule);
}

std::size_t spatial_of(std::string_view function, const Tensor& x) {
  if (x.rank() < 3 || x.rank() > 5)
    refuse(function, "x must be [B, C, ...] with one to three spatial dims, got " + to_string(x.type()));
  for (std::size_t d = 1; d < x.rank(); ++d)
    if (!x.dim(d).is_static())
      refuse(function, "only the first dim of x may be symbolic, got " + to_string(x.type()));
  return x.rank() - 2;
}

std::int64_t extent(std::int64_t kernel, std::int64_t dilation) { return dilation * (kernel - 1) + 1; }

/// `x` and `weight` in one type that convolutions compute in.
void unite(Tensor& x, Tensor& weight) {
  x = floating(computable(std::move(x)));
  weight = floating(computable(std::move(weight)));
  const DType type = promote(x.dtype(), weight.dtype());
  x = cast(std::move(x), type);
  weight = cast(std::move(weight), type);
}

}  // namespace

std::vector<std::int64_t> PerDim::of(std::string_view function, std::string_view what, std::size_t spatial,
                                     std::int64_t least) const {
  if (values_.size() != 1 && values_.size() != spatial)
    refuse(function,
           std::string(what) + " must be one number or " + std::to_string(spatial) + ", got " + text());
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (const std::int64_t v : values_)
    if (v < least || v > kMost)
      refuse(function, std::string(what) + " must be " +
                           (v < least ? std::to_string(least) + " or greater" : "smaller") + ", got " +
                           text());
  return values_.size() == spatial ? values_ : std::vector<std::int64_t>(spatial, values_[0]);
}

std::string PerDim::text() const {
  if (values_.size() == 1) return std::to_string(values_[0]);
  std::string out;
  for (const std::int64_t v : values_) out += (out.empty() ? "" : ", ") + std::to_string(v);
  return "(" + out + ")";
}

Tensor convolution(Tensor x, Tensor weight, const ConvolutionOptions& o) {
  const std::size_t n = spatial_of("convolution", x);
  unite(x, weight);
  const ir::Attrs attrs{{"stride", o.stride.of("convolution", "stride", n)},
                        {"low", o.padding.of("convolution", "padding", n, 0)},
                        {"high", o.padding_after.value_or(o.padding).of("convolution", "padding", n, 0)},
                        {"dilation", o.dilation.of("convolution", "dilation", n)},
                        {"groups", o.groups}};
  return ir::make_node(convolution_op(), {std::move(x), std::move(weight)}, attrs);
}

Tensor conv_transpose(Tensor x, Tensor weight, const ConvTransposeOptions& o) {
  const char* const name = "conv_transpose";
  const std::size_t n = spatial_of(name, x);
  if (weight.rank() != n + 2 || !weight.shape().is_static())
    refuse(name, "the weight must be [C, O/groups, kernel...], got " + to_string(weight.type()));
  if (o.groups < 1) refuse(name, "groups must be 1 or greater, got " + std::to_string(o.groups));
  unite(x, weight);
  const Ints stride = o.stride.of(name, "stride", n), padding = o.padding.of(name, "padding", n, 0),
             more = o.output_padding.of(name, "output_padding", n, 0),
             dilation = o.dilation.of(name, "dilation", n);
  Ints high = padding;
  Axes after(n + 2, 0);
  std::vector<Dim> dims{x.dim(0), weight.dim(1).factor * o.groups};
  for (std::size_t d = 0; d < n; ++d) {
    if (more[d] >= std::max(stride[d], dilation[d]))
      refuse(name, "output_padding must be less than stride or dilation, got " + o.output_padding.text());
    // More than a stride would be another step of the convolution: less of its padding, or zeros afterwards.
    high[d] -= std::max<std::int64_t>(0, more[d] - (stride[d] - 1));
    after[d + 2] = std::max<std::int64_t>(0, -high[d]);
    high[d] = std::max<std::int64_t>(0, high[d]);
    const std::int64_t size = (x.dim(d + 2).factor - 1) * stride[d] - 2 * padding[d] +
                              extent(weight.dim(d + 2).factor, dilation[d]) + more[d] - after[d + 2];
    if (size < 1)
      refuse(name,
             "nothing is left of spatial dim " + std::to_string(d) + " after padding " + o.padding.text());
    dims.emplace_back(size);
  }
  const TensorType type{x.dtype(), Shape(std::move(dims))};
  const Tensor y = ir::make_node(
      convolution_input_grad_op(), {std::move(x), std::move(weight)},
      {{"stride", stride}, {"low", padding}, {"high", high}, {"dilation", dilation}, {"groups", o.groups}},
      &type);
  const bool exact = std::all_of(after.begin(), after.end(), [](auto a) { return a == 0; });
  return exact ? y : pad(y, Axes(n + 2, 0), after);
}

Tensor pad_spatial(Tensor x, const PerDim& before, const PerDim& after, PaddingMode mode) {
  const char* const name = "pad_spatial";
  const std::size_t n = spatial_of(name, x);
  const Ints low = before.of(name, "padding", n, 0), high = after.of(name, "padding", n, 0);
  if (mode == PaddingMode::zeros) {
    Axes l{0, 0}, h{0, 0};
    l.insert(l.end(), low.begin(), low.end());
    h.insert(h.end(), high.begin(), high.end());
    return pad(std::move(x), l, h);
  }
  for (std::size_t d = 0; d < n; ++d) {
    const auto axis = static_cast<std::int64_t>(d) + 2;
    const std::int64_t size = x.dim(d + 2).factor, most = size - (mode == PaddingMode::reflect ? 1 : 0);
    if (mode != PaddingMode::replicate && std::max(low[d], high[d]) > most)
      refuse(name, "spatial dim " + std::to_string(d) + ": padding must be at most " + std::to_string(most) +
                       " for " + std::to_string(size) + " elements, got " +
                       std::to_string(std::max(low[d], high[d])));
    // Element i of the padded dim, i counted from -low.
    const auto source = [&](std::int64_t i) {
      if (mode == PaddingMode::replicate) return std::clamp<std::int64_t>(i, 0, size - 1);
      if (mode == PaddingMode::circular) return (i + size) % size;
      return i < 0 ? -i : 2 * (size - 1) - i;
    };
    std::vector<Tensor> parts;
    const auto add = [&](std::int64_t i) { parts.push_back(slice(x, axis, source(i), source(i) + 1)); };
    for (std::int64_t i = -low[d]; i < 0; ++i) add(i);
    parts.push_back(x);
    for (std::int64_t i = size; i < size + high[d]; ++i) add(i);
    if (parts.size() > 1) x = concat(parts, axis);
  }
  return x;
}

}  // namespace tightloop
