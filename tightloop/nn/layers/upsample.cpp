// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/upsample.h>

#include <tightloop/nn/layers/index.h>
#include <tightloop/nn/layers/spatial.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <cmath>

namespace tightloop::nn {
namespace {

/// How one axis grows.
struct Stretch {
  std::int64_t from = 1, to = 1;
  double step = 1;  ///< length of an element of the result, in elements of x
};

/// Repeats each element; the factor is whole.
Tensor repeated(const Tensor& x, std::int64_t axis, std::int64_t times) {
  std::vector<Dim> dims = x.shape().dims();
  const Tensor apart = unsqueeze(x, axis + 1);
  std::vector<Dim> wide = apart.shape().dims();
  wide[static_cast<std::size_t>(axis) + 1] = times;
  dims[static_cast<std::size_t>(axis)] = dims[static_cast<std::size_t>(axis)].factor * times;
  return reshape(broadcast_to(apart, Shape(std::move(wide))), Shape(std::move(dims)));
}

/// The axis as the first one, and back.
Tensor to_front(const Tensor& x, std::int64_t axis, bool back = false) {
  Axes order;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(x.rank()); ++d)
    if (d != (back ? 0 : axis)) order.push_back(d);
  order.insert(order.begin() + (back ? axis : 0), back ? 0 : axis);
  return permute(x, order);
}

Tensor nearest(const Tensor& x, std::int64_t axis, const Stretch& s) {
  if (s.to % s.from == 0 && s.step * static_cast<double>(s.to) == static_cast<double>(s.from))
    return repeated(x, axis, s.to / s.from);
  const Tensor at = floor(iota({s.to}, 0, DType::f32) * s.step);
  const Tensor index = minimum(cast(at, DType::i64), scalar(static_cast<double>(s.from - 1), DType::i64));
  return to_front(gather(to_front(x, axis), index), axis, true);
}

/// [to, from]: the weights of x's elements in each of the result.
Tensor weights(const Stretch& s, bool align_corners, DType dtype) {
  const Shape shape{s.to, s.from};
  const Tensor o = iota(shape, 0, dtype), i = iota(shape, 1, dtype);
  const Tensor at = align_corners ? o * s.step : (o + 0.5) * s.step - 0.5;
  const Tensor inside = clamp(at, 0.0, static_cast<double>(s.from - 1));
  return maximum(1.0 - abs(inside - i), zeros(shape, dtype));
}

Tensor linear(const Tensor& x, std::int64_t axis, const Stretch& s, bool align_corners) {
  if (s.to == s.from) return x;
  const auto last = static_cast<std::int64_t>(x.rank()) - 1;
  const Tensor y = matmul_transposed(transpose(x, axis, last), weights(s, align_corners, x.dtype()));
  return transpose(y, axis, last);
}

/// What size or scale_factor says of axis `i` behind [B, C].
Stretch stretch_of(const UpsampleOptions& o, std::int64_t from, std::size_t i) {
  const auto pick = [i](const auto& list) { return list[list.size() == 1 ? 0 : i]; };
  Stretch s{.from = from};
  const double scale = o.scale_factor.empty() ? 0 : pick(o.scale_factor);
  s.to = o.scale_factor.empty() ? pick(o.size)
                                : static_cast<std::int64_t>(std::floor(static_cast<double>(from) * scale));
  if (s.to < 1) throw Error(fmt::format("upsample: scale_factor {} leaves nothing of {}", scale, from));
  const auto length = [](std::int64_t n) { return static_cast<double>(n); };
  if (o.align_corners)
    s.step = s.to == 1 ? 0 : length(from - 1) / length(s.to - 1);
  else
    s.step = o.scale_factor.empty() ? length(from) / length(s.to) : 1 / scale;
  return s;
}

const char* name_of(Upsampling mode) {
  return mode == Upsampling::nearest ? "nearest" : mode == Upsampling::linear ? "linear" : "bilinear";
}

template <class T>
void check_positive(const char* what, const std::vector<T>& list) {
  for (const T v : list)
    if (!(v > 0 && v <= 1e6)) throw Error(fmt::format("upsample: {} must be above 0, got {}", what, v));
}

}  // namespace

Upsample::Upsample(UpsampleOptions options) : options_(std::move(options)) {
  if (options_.size.empty() == options_.scale_factor.empty())
    throw Error("upsample: give either size or scale_factor");
  check_positive("size", options_.size);
  check_positive("scale_factor", options_.scale_factor);
  if (options_.align_corners && options_.mode == Upsampling::nearest)
    throw Error("upsample: align_corners goes with mode linear or bilinear, not with nearest");
}

std::string Upsample::describe() const {
  return fmt::format("Upsample({}, mode={}{})",
                     options_.size.empty()
                         ? fmt::format("scale_factor=[{}]", fmt::join(options_.scale_factor, ", "))
                         : fmt::format("size=[{}]", fmt::join(options_.size, ", ")),
                     name_of(options_.mode), options_.align_corners ? ", align_corners=true" : "");
}

Tensor Upsample::forward(const Tensor& x) {
  const std::size_t low = options_.mode == Upsampling::bilinear ? 4 : 3;
  const std::size_t high = options_.mode == Upsampling::nearest ? 5 : low;
  const std::size_t listed = std::max(options_.size.size(), options_.scale_factor.size());
  bool fits = x.rank() >= low && x.rank() <= high && is_floating(x.dtype());
  for (std::size_t d = 2; fits && d < x.rank(); ++d) fits = x.dim(d).is_static();
  if (!fits || (listed != 1 && listed + 2 != x.rank()))
    throw Error(
        fmt::format("upsample: mode {} wants floating x of {} dims, and a size or factor for each behind "
                    "[batch, channels]; got {} and {} of them",
                    name_of(options_.mode), low == high ? fmt::format("{}", low) : "3 to 5",
                    to_string(x.type()), listed));
  Tensor y = x;
  for (std::size_t d = 2; d < x.rank(); ++d) {
    const auto axis = static_cast<std::int64_t>(d);
    const Stretch s = stretch_of(options_, x.dim(d).factor, d - 2);
    y = options_.mode == Upsampling::nearest ? nearest(y, axis, s)
                                             : linear(y, axis, s, options_.align_corners);
  }
  return y;
}

namespace layers {
namespace {

Upsampling mode_of(const std::string& mode) {
  for (const Upsampling m : {Upsampling::nearest, Upsampling::linear, Upsampling::bilinear})
    if (mode == name_of(m)) return m;
  throw Error(fmt::format("upsample: mode must be 'nearest', 'linear' or 'bilinear', not '{}'", mode));
}

std::unique_ptr<Layer> build(const Options& o, const TensorType&) {
  UpsampleOptions options{.mode = mode_of(o.at<std::string>("mode")),
                          .align_corners = o.has("align_corners") && o.at<bool>("align_corners")};
  if (o.has("scale_factor")) options.scale_factor = o.at<Numbers>("scale_factor");
  if (o.has("size")) options.size = sizes_of(o, "size");
  return std::make_unique<Upsample>(std::move(options));
}

}  // namespace

const LayerDef& upsample_def() {
  static const LayerDef def{
      "upsample",
      "x [B, C, ...] on another grid",
      {{"size", OptionType::sizes, {}, "of the result; or"},
       {"scale_factor", OptionType::list, {}, "size of the result relative to x"},
       {"mode", OptionType::text, "nearest", "nearest, linear or bilinear"},
       {"align_corners", OptionType::boolean, {}, "keep the corner points in their places"}},
      build};
  return def;
}

}  // namespace layers
}  // namespace tightloop::nn
