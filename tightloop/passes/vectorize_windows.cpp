// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/window.h>
#include <tightloop/passes/differentiate.h>
#include <tightloop/passes/vectorize_windows.h>

#include <numeric>

namespace tightloop {
namespace {

using ir::Ints;
using ir::Node;

Shape with_front(std::vector<Dim> front, const Shape& s, std::size_t from) {
  front.insert(front.end(), s.begin() + static_cast<std::ptrdiff_t>(from), s.end());
  return Shape(std::move(front));
}

Tensor repeated(const Tensor& t, const Dim& n) {
  Ints dims(t.rank());
  std::iota(dims.begin(), dims.end(), 1);
  return ops::broadcast_dims(t, with_front({n}, t.shape(), 0), dims);
}

/// x with dim `from` at place `to`.
Tensor moved(const Tensor& x, std::size_t from, std::size_t to) {
  Axes order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), static_cast<std::int64_t>(from));
  return permute(x, order);
}

Tensor made(const Node& node, std::vector<Tensor> inputs, ir::Attrs attrs, const Shape& result) {
  const TensorType type{node.type.dtype, result};
  return ir::make_node(*node.op, std::move(inputs), std::move(attrs), node.op->typed ? &type : nullptr);
}

/// One op over n·B rows; `shared` counts the last inputs that have no batch.
Tensor in_the_batch(const Node& node, const Dim& n, const std::vector<Tensor>& mapped, std::size_t shared) {
  const Dim rows = Shape{n, node.type.shape[0]}.count();
  std::vector<Tensor> inputs = node.inputs;
  for (std::size_t i = 0; i + shared < inputs.size(); ++i) {
    const Tensor all = mapped[i].defined() ? mapped[i] : repeated(inputs[i], n);
    inputs[i] = reshape(all, with_front({rows}, inputs[i].shape(), 1));
  }
  const Tensor y = made(node, std::move(inputs), node.attrs, with_front({rows}, node.type.shape, 1));
  return reshape(y, with_front({n}, node.type.shape, 0));
}

/// A convolution op whose entries have weights of their own: which of its three arrays an input is, and what
/// the array is for all entries.
class Convolutions {
 public:
  Convolutions(const Node& node, const Dim& n, const std::vector<Tensor>& mapped)
      : node_(node), n_(n), mapped_(mapped), shape_(ops::convolution_shape(node)) {
    if (node.op == &ops::convolution_input_grad_op()) x_ = kResult, w_ = 1, y_ = 0;
    if (node.op == &ops::convolution_weight_grad_op()) x_ = 0, w_ = kResult, y_ = 1;
  }

  /// Entries that differ in x, in y or in both side by side in the channels of those.
  Tensor in_the_channels() const {
    std::vector<Tensor> inputs = node_.inputs;
    if (x_ < kResult && varies(x_)) inputs[x_] = channels(mapped_[x_], shape_.in);
    if (y_ < kResult && varies(y_)) inputs[y_] = channels(mapped_[y_], shape_.out);
    if (w_ < kResult) inputs[w_] = weights(mapped_[w_]);
    const std::int64_t groups = shape_.groups * (varies(x_) && varies(y_) ? n_.factor : 1);
    ir::Attrs attrs{{"groups", groups}};
    for (const auto& [name, value] : node_.attrs)
      if (name != "groups") attrs.set(name, value);
    const Tensor all = made(node_, std::move(inputs), std::move(attrs), in_channels_shape());
    return w_ == kResult ? weights_apart(all) : channels_apart(all);
  }

  /// Products of weights and windows: w [n, 1, G, O/G, C/G·taps], windows [n, B, G, C/G·taps, outputs].
  Tensor as_products() const {
    if (w_ == kResult) {
      const Tensor each = ops::matmul_node(results(), windows(all(x_)), false, true);
      return reshape(shape_.batch.is(1) ? each : sum(each, {1}), with_front({n_}, node_.type.shape, 0));
    }
    const Shape result = with_front({n_}, node_.type.shape, 0);
    const std::int64_t taps = shape_.in_a_group() * ops::taps_of(shape_.dims);
    Tensor w = reshape(all(w_), {n_, 1, shape_.groups, shape_.out_a_group(), taps});
    w = broadcast_to(w, {n_, shape_.batch, shape_.groups, shape_.out_a_group(), taps});
    if (y_ == kResult) return reshape(ops::matmul_node(w, windows(all(x_)), false, false), result);
    // The windows are linear in x, so their gradient does not read it.
    const Tensor x = input("what windows read", "argument", {node_.type.dtype, result});
    return gradients(windows(x), {x}, ops::matmul_node(w, results(), true, false))[0];
  }

 private:
  static constexpr std::size_t kResult = 2;

  /// The result differs from entry to entry whatever made it.
  bool varies(std::size_t i) const { return i == kResult || mapped_[i].defined(); }
  Tensor all(std::size_t i) const { return varies(i) ? mapped_[i] : repeated(node_.inputs[i], n_); }

  /// [n, B, C, ...] → [B, G·n·C/G, ...]
  Tensor channels(const Tensor& t, std::int64_t many) const {
    const Tensor apart =
        reshape(t, with_front({n_, t.dim(1), shape_.groups, many / shape_.groups}, t.shape(), 3));
    return reshape(moved(apart, 0, 2), with_front({t.dim(1), many * n_.factor}, t.shape(), 3));
  }
  Tensor channels_apart(const Tensor& t) const {
    const Shape& one = node_.type.shape;
    const std::int64_t in_group = one[1].factor / shape_.groups;
    const Tensor apart = reshape(t, with_front({one[0], shape_.groups, n_, in_group}, one, 2));
    return reshape(moved(apart, 2, 0), with_front({n_}, one, 0));
  }

  /// Where n stands in [G, O/G, C/G, ...]: as in the channels of y, else in those of x.
  std::size_t place() const { return varies(y_) ? 1 : 2; }
  /// [n, O, C/G, kernel...] → [O·n, C/G, kernel...] or [O, n·C/G, kernel...]
  Tensor weights(const Tensor& t) const {
    const Shape apart =
        with_front({n_, shape_.groups, shape_.out_a_group(), shape_.in_a_group()}, t.shape(), 3);
    return reshape(moved(reshape(t, apart), 0, place()), weights_shape(node_.inputs[w_].shape()));
  }
  Tensor weights_apart(const Tensor& t) const {
    std::vector<Dim> apart{shape_.groups, shape_.out_a_group(), shape_.in_a_group()};
    apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(place()), n_);
    return reshape(moved(reshape(t, with_front(std::move(apart), t.shape(), 2)), place(), 0),
                   with_front({n_}, node_.type.shape, 0));
  }
  Shape weights_shape(const Shape& one) const {
    const bool out = varies(y_);
    return with_front({shape_.out * (out ? n_.factor : 1), shape_.in_a_group() * (out ? 1 : n_.factor)}, one,
                      2);
  }
  Shape in_channels_shape() const {
    const Shape& one = node_.type.shape;
    if (w_ == kResult) return weights_shape(one);
    return with_front({one[0], one[1].factor * n_.factor}, one, 2);
  }

  /// y [n, B, G, O/G, outputs]
  Tensor results() const {
    return reshape(all(y_),
                   {n_, shape_.batch, shape_.groups, shape_.out_a_group(), ops::outputs_of(shape_.dims)});
  }

  /// x [n, B, C, ...] → [n, B, G, C/G·taps, outputs]
  Tensor windows(const Tensor& x) const {
    Axes low(x.rank(), 0), high = low;
    for (std::size_t d = 0; d < shape_.spatial; ++d) {
      low[3 + d] = node_.attrs.at<Ints>("low")[d];
      high[3 + d] = node_.attrs.at<Ints>("high")[d];
    }
    const Tensor padded = pad(x, low, high);
    std::vector<Tensor> taps;
    for (std::int64_t k = 0; k < ops::taps_of(shape_.dims); ++k)
      taps.push_back(reshape(tap(padded, k), {n_, shape_.batch, shape_.in, 1, ops::outputs_of(shape_.dims)}));
    const std::int64_t rows = shape_.in_a_group() * ops::taps_of(shape_.dims);
    return reshape(concat(std::move(taps), 3),
                   {n_, shape_.batch, shape_.groups, rows, ops::outputs_of(shape_.dims)});
  }

  /// What tap k of every window reads.
  Tensor tap(Tensor x, std::int64_t k) const {
    for (std::size_t d = shape_.spatial; d-- > 0;) {
      const ops::WindowDim& dim = shape_.dims[3 - shape_.spatial + d];
      const std::int64_t first = k % dim.size * dim.dilation;
      x = slice(x, static_cast<std::int64_t>(3 + d), first, first + (dim.out - 1) * dim.stride + 1,
                dim.stride);
      k /= dim.size;
    }
    return x;
  }

  const Node& node_;
  Dim n_;
  const std::vector<Tensor>& mapped_;
  ops::ConvolutionShape shape_;
  std::size_t x_ = 0, w_ = 1, y_ = kResult;  ///< inputs
};

}  // namespace

Tensor vectorize_windows(const Node& node, const Dim& n, const std::vector<Tensor>& mapped) {
  const bool weight_grad = node.op == &ops::convolution_weight_grad_op();
  const bool convolves = node.op->kind == ir::OpKind::window && node.op->arity == 2;
  const Dim batch = node.inputs[0].dim(0);
  if (!n.is_static() && !batch.is_static())
    throw Error("vmap: " + std::string(node.op->name) + " of " + to_string(node.inputs[0].type()) +
                " cannot be mapped over an axis of symbolic size too; map over a static axis");
  if (!convolves) return in_the_batch(node, n, mapped, 0);
  if (!weight_grad && !mapped[1].defined()) return in_the_batch(node, n, mapped, 1);
  const Convolutions convolutions(node, n, mapped);
  return n.is_static() ? convolutions.in_the_channels() : convolutions.as_products();
}

}  // namespace tightloop
