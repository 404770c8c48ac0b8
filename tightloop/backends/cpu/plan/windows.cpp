// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/ops/index.h>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

/// Products of one sample from which a call of the library pays.
constexpr std::int64_t kLibraryProducts = std::int64_t{1} << 15;
/// Channels of a group below which the library's vectors would be nearly empty.
constexpr std::int64_t kLibraryChannels = 4;

const ir::OpDef& weight_pieces_op() {
  static const ir::OpDef op = [] {
    ir::OpDef made{.name = "convolution_weight_pieces", .doc = "Weight gradient of each piece of the batch."};
    made.kind = ir::OpKind::window;
    made.arity = 2;
    made.typed = true;
    made.attrs = ops::convolution_attrs();
    made.infer = [](const ir::InferArgs& a) { return *a.declared; };
    return made;
  }();
  return op;
}

/// Partial sums of small weights cost nothing; those of the largest still give a few threads work.
std::int64_t pieces_of(std::int64_t weights) {
  return weights <= (1 << 16) ? 16 : weights <= (1 << 20) ? 8 : 4;
}

bool is_convolution(const Node& n) {
  return n.op == &ops::convolution_op() || n.op == &ops::convolution_input_grad_op() ||
         n.op == &ops::convolution_weight_grad_op() || is_weight_pieces(&n);
}

Shape without_first(const Shape& s) { return Shape(std::vector<Dim>(s.begin() + 1, s.end())); }

}  // namespace

bool is_window(const Node* n) {
  return n->op->kind == ir::OpKind::window || n->op == &ops::plane_gather_op() ||
         n->op == &ops::plane_scatter_op();
}

bool is_weight_pieces(const Node* n) { return n->op == &weight_pieces_op(); }

ops::ConvolutionShape convolution_of(const Node& n) {
  if (!is_weight_pieces(&n)) return ops::convolution_shape(n);
  return ops::convolution_shape(n.inputs[0].shape(), without_first(n.type.shape), n.inputs[1].shape(),
                                n.attrs);
}

ir::Graph split_weight_gradients(const ir::Graph& graph) {
  return ir::rewrite(graph, [](const Node& n, const std::vector<Tensor>& inputs) -> Tensor {
    if (n.op != &ops::convolution_weight_grad_op() || n.inputs[0].dim(0).is(1)) return {};
    std::vector<Dim> dims{pieces_of(n.type.shape.count().factor)};
    dims.insert(dims.end(), n.type.shape.begin(), n.type.shape.end());
    const TensorType type{n.type.dtype, Shape(std::move(dims))};
    const Tensor pieces = ir::make_node(weight_pieces_op(), inputs, n.attrs, &type);
    return ir::make_node(ops::reduce_sum_op(), {pieces}, {{"axes", ir::Ints{0}}});
  });
}

bool is_library_convolution(const Node& n) {
  if (!is_convolution(n) || n.type.dtype != DType::f32) return false;
  const ops::ConvolutionShape s = convolution_of(n);
  const bool grouped =
      s.groups > 1 && (s.in_a_group() < kLibraryChannels || s.out_a_group() < kLibraryChannels);
  return !grouped && s.products() >= kLibraryProducts;
}

}  // namespace tightloop::backends::cpu
