// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/index.h>
#include <tightloop/ops/window.h>

#include <string>

namespace tightloop::ops {
namespace {

/// Offsets in a plane are i32, and no product of two such numbers overflows.
constexpr std::int64_t kLargest = std::int64_t{1} << 31;

bool sizes_fit(const Ints& values, std::int64_t least) {
  return std::all_of(values.begin(), values.end(), [&](auto v) { return v >= least && v < kLargest; });
}

std::size_t expect_planes(const InferArgs& a, const TensorType& x) {
  expect(a, x.shape.rank() >= 3 && x.shape.rank() <= 5, "needs [B, C, ...] with one to three spatial dims");
  for (std::size_t d = 1; d < x.shape.rank(); ++d)
    expect(a, x.shape[d].is_static() && x.shape[d].factor > 0 && x.shape[d].factor < kLargest,
           "only the first dim may be symbolic, and none but it empty");
  return x.shape.rank() - 2;
}

void expect_places(const InferArgs& a, std::size_t spatial) {
  for (const char* name : {"stride", "low", "high", "dilation"})
    expect(a, a.attrs.at<Ints>(name).size() == spatial,
           "stride, low, high and dilation need one number a spatial dim");
  expect(a, sizes_fit(a.attrs.at<Ints>("stride"), 1) && sizes_fit(a.attrs.at<Ints>("dilation"), 1),
         "stride and dilation must be 1 or greater");
  expect(a, sizes_fit(a.attrs.at<Ints>("low"), 0) && sizes_fit(a.attrs.at<Ints>("high"), 0),
         "padding must not be negative");
}

std::int64_t steps(const InferArgs& a, std::size_t d, std::int64_t in, std::int64_t size) {
  const auto at = [&](const char* name) { return a.attrs.at<Ints>(name)[d]; };
  const std::int64_t padded = in + at("low") + at("high");
  const std::int64_t extent = at("dilation") * (size - 1) + 1;
  if (extent > padded)
    refuse(a, "spatial dim " + std::to_string(d) + ": a window of " + std::to_string(extent) +
                  " does not fit into " + std::to_string(padded) + " elements, padding included");
  return (padded - extent) / at("stride") + 1;
}

WindowDim dim_of(const ir::Attrs& attrs, std::size_t d, std::int64_t in, std::int64_t out,
                 std::int64_t size) {
  const auto at = [&](const char* name) { return attrs.at<Ints>(name)[d]; };
  return {in, out, size, at("stride"), at("low"), at("dilation")};
}

/// Attributes of a convolution.
ir::Attrs places(Ints stride, Ints low, Ints high, Ints dilation, std::int64_t groups = 1) {
  return {{"stride", std::move(stride)},
          {"low", std::move(low)},
          {"high", std::move(high)},
          {"dilation", std::move(dilation)},
          {"groups", groups}};
}

/// Attributes of a pooling.
ir::Attrs windows(Ints size, Ints stride, Ints low, Ints high, Ints dilation) {
  return {{"size", std::move(size)},
          {"stride", std::move(stride)},
          {"low", std::move(low)},
          {"high", std::move(high)},
          {"dilation", std::move(dilation)}};
}

ir::Attrs adaptive(Ints output) {
  return {{"size", Ints{}}, {"stride", Ints{}},   {"low", Ints{}},
          {"high", Ints{}}, {"dilation", Ints{}}, {"output", std::move(output)}};
}

}  // namespace

std::vector<ir::AttrSpec> convolution_attrs() {
  return {{"stride", Ints{}},
          {"low", Ints{}},
          {"high", Ints{}},
          {"dilation", Ints{}},
          {"groups", std::int64_t{1}, false}};
}

std::vector<ir::AttrSpec> pooling_attrs() {
  return {{"size", Ints{}}, {"stride", Ints{}},   {"low", Ints{}},
          {"high", Ints{}}, {"dilation", Ints{}}, {"output", Ints{}, false}};
}

TensorType convolved(const InferArgs& a, const TensorType& x, const TensorType& w) {
  expect(a, x.dtype == w.dtype && is_compute_float(x.dtype), "needs two f32 or two f64 (cast first)");
  const std::size_t spatial = expect_planes(a, x);
  expect(a, w.shape.rank() == x.shape.rank() && w.shape.is_static(),
         "the weight must be [O, C/groups, kernel...] with one kernel dim a spatial dim");
  for (const Dim& d : w.shape) expect(a, d.factor > 0 && d.factor < kLargest, "a dim of the weight is empty");
  expect_places(a, spatial);
  const auto groups = a.attrs.get("groups", std::int64_t{1});
  expect(a, groups >= 1 && x.shape[1].factor % groups == 0 && w.shape[0].factor % groups == 0,
         "groups must divide the channels of input and result");
  expect(a, w.shape[1].factor == x.shape[1].factor / groups,
         "the weight must have as many channels as the input has in a group");
  std::vector<Dim> dims{x.shape[0], w.shape[0]};
  for (std::size_t d = 0; d < spatial; ++d)
    dims.emplace_back(steps(a, d, x.shape[d + 2].factor, w.shape[d + 2].factor));
  return {x.dtype, Shape(std::move(dims))};
}

Shape windowed(const InferArgs& a, const TensorType& x) {
  const std::size_t spatial = expect_planes(a, x);
  std::vector<Dim> dims{x.shape[0], x.shape[1]};
  const Ints output = a.attrs.get("output", Ints{});
  const auto& size = a.attrs.at<Ints>("size");
  if (!output.empty()) {
    expect(a, output.size() == spatial && sizes_fit(output, 1),
           "output needs a positive number a spatial dim");
    for (const char* name : {"size", "stride", "low", "high", "dilation"})
      expect(a, a.attrs.at<Ints>(name).empty(),
             "size, stride, padding and dilation must be empty beside output");
    for (const std::int64_t o : output) dims.emplace_back(o);
    return Shape(std::move(dims));
  }
  expect_places(a, spatial);
  expect(a, size.size() == spatial && sizes_fit(size, 1), "size needs a positive number a spatial dim");
  for (std::size_t d = 0; d < spatial; ++d) {
    const std::int64_t in = x.shape[d + 2].factor;
    const WindowDim w = dim_of(a.attrs, d, in, steps(a, d, in, size[d]), size[d]);
    // Between the ends a window can only step over the whole input when that is shorter than the dilation.
    const bool meets = w.low + a.attrs.at<Ints>("high")[d] == 0 || w.dilation <= in;
    for (const std::int64_t o : {std::int64_t{0}, w.out - 1})
      expect(a, meets && w.reads(o).begin < w.reads(o).end, "a window covers nothing but padding");
    dims.emplace_back(w.out);
  }
  return Shape(std::move(dims));
}

ConvolutionShape convolution_shape(const ir::Node& n) {
  const Shape &a = n.inputs[0].shape(), &b = n.inputs[1].shape(), &out = n.type.shape;
  if (n.op == &convolution_input_grad_op()) return convolution_shape(out, b, a, n.attrs);
  if (n.op == &convolution_weight_grad_op()) return convolution_shape(a, out, b, n.attrs);
  return convolution_shape(a, b, out, n.attrs);
}

ConvolutionShape convolution_shape(const Shape& x, const Shape& w, const Shape& y, const ir::Attrs& attrs) {
  ConvolutionShape s;
  s.batch = x[0];
  s.in = x[1].factor;
  s.out = y[1].factor;
  s.groups = attrs.get("groups", std::int64_t{1});
  s.spatial = x.rank() - 2;
  for (std::size_t d = 0; d < s.spatial; ++d) {
    const std::size_t to = 3 - s.spatial + d, dim = d + 2;
    s.dims[to] = dim_of(attrs, d, x[dim].factor, y[dim].factor, w[dim].factor);
  }
  return s;
}

WindowDims window_dims(const Shape& in, const Shape& out, const ir::Attrs& attrs) {
  WindowDims dims;
  const bool adaptive = !attrs.get("output", Ints{}).empty();
  const std::size_t spatial = in.rank() - 2;
  for (std::size_t d = 0; d < spatial; ++d) {
    WindowDim& to = dims[3 - spatial + d];
    if (adaptive)
      to = {in[d + 2].factor, out[d + 2].factor};
    else
      to = dim_of(attrs, d, in[d + 2].factor, out[d + 2].factor, attrs.at<Ints>("size")[d]);
    to.adaptive = adaptive;
  }
  return dims;
}

double window_flops(const ir::Node& n, const Sizes& sizes) {
  const auto count = [&](const Shape& s) { return static_cast<double>(s.count(sizes)); };
  if (n.op->arity == 2) {
    const ConvolutionShape s = convolution_shape(n);
    return 2 * static_cast<double>(s.batch.value(sizes)) * static_cast<double>(s.products());
  }
  const bool spread = n.op == &window_spread_op();
  const Shape &in = spread ? n.type.shape : n.inputs[0].shape(),
              &out = spread ? n.inputs[0].shape() : n.type.shape;
  const WindowDims dims = window_dims(in, out, n.attrs);
  return dims[2].adaptive ? count(in) : count(out) * static_cast<double>(taps_of(dims));
}

std::vector<double> values_of(const Array& a) {
  std::vector<double> out(static_cast<std::size_t>(a.count()));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = a.at(static_cast<std::int64_t>(i));
  return out;
}

void store(const std::vector<double>& values, Array& out) {
  for (std::size_t i = 0; i < values.size(); ++i) out.set(static_cast<std::int64_t>(i), values[i]);
}

Samples convolution_samples(Sample (*make)(const TensorType&, const TensorType&, const TensorType&,
                                           const ir::Attrs&)) {
  struct Case {
    DType dtype;
    Shape x, w, y;
    ir::Attrs attrs;
  };
  const Dim batch = Dim::batch();
  const std::vector<Case> cases{
      {DType::f32, {batch, 3, 7, 5}, {4, 3, 3, 3}, {batch, 4, 7, 5}, places({1, 1}, {1, 1}, {1, 1}, {1, 1})},
      {DType::f32, {batch, 2, 11}, {3, 2, 4}, {batch, 3, 3}, places({2}, {0}, {1}, {2})},
      {DType::f32,
       {batch, 4, 6, 9},
       {6, 2, 2, 3},
       {batch, 6, 5, 4},
       places({1, 2}, {0, 1}, {0, 0}, {1, 1}, 2)},
      {DType::f32,
       {batch, 5, 9, 9},
       {5, 1, 3, 3},
       {batch, 5, 9, 9},
       places({1, 1}, {1, 1}, {1, 1}, {1, 1}, 5)},
      {DType::f64,
       {3, 2, 5, 4, 6},
       {3, 2, 2, 3, 1},
       {3, 3, 3, 2, 3},
       places({2, 3, 2}, {1, 2, 0}, {0, 3, 0}, {1, 2, 1})},
      {DType::f64, {batch, 1, 4, 4}, {2, 1, 5, 1}, {batch, 2, 4, 6}, places({1, 1}, {2, 1}, {2, 1}, {1, 1})},
      {DType::f32, {1, 17, 3, 3}, {17, 17, 1, 1}, {1, 17, 3, 3}, places({1, 1}, {0, 0}, {0, 0}, {1, 1})},
      {DType::f32,
       {batch, 16, 6, 5},
       {8, 16, 3, 3},
       {batch, 8, 6, 5},
       places({1, 1}, {1, 1}, {1, 1}, {1, 1})},
      {DType::f32, {batch, 8, 15}, {16, 4, 5}, {batch, 16, 6}, places({2}, {1}, {0}, {1}, 2)},
  };
  Samples out;
  for (const Case& c : cases) {
    out.push_back(make({c.dtype, c.x}, {c.dtype, c.w}, {c.dtype, c.y}, c.attrs));
    out.back().tolerance = 1e-4;  // sums of up to a thousand products of both signs
  }
  return out;
}

Samples pooling_samples(Sample (*make)(const TensorType&, const TensorType&, const ir::Attrs&)) {
  const Dim batch = Dim::batch();
  return {
      make({DType::f32, {batch, 3, 6, 8}}, {DType::f32, {batch, 3, 3, 4}},
           windows({2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1})),
      make({DType::f32, {batch, 2, 11}}, {DType::f32, {batch, 2, 6}}, windows({3}, {2}, {1}, {1}, {1})),
      make({DType::f64, {2, 1, 5, 4, 7}}, {DType::f64, {2, 1, 2, 4, 2}},
           windows({3, 2, 2}, {2, 1, 2}, {0, 1, 0}, {0, 0, 0}, {1, 1, 3})),
      make({DType::f32, {batch, 1, 19, 35}}, {DType::f32, {batch, 1, 19, 35}},
           windows({3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1})),
      make({DType::f64, {3, 2, 7, 5}}, {DType::f64, {3, 2, 3, 5}}, adaptive({3, 5})),
      make({DType::f32, {batch, 1, 3}}, {DType::f32, {batch, 1, 4}}, adaptive({4})),
  };
}

}  // namespace tightloop::ops
