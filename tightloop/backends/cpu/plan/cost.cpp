// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/cost.h>
#include <tightloop/backends/cpu/plan/schedule.h>
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace tightloop::backends::cpu {

double own_cost(const ir::Node& n) {
  static constexpr std::array<std::string_view, 5> kDivisions{"div", "sqrt", "rsqrt", "div_root",
                                                              "remainder"};
  static constexpr std::array<std::string_view, 17> kFunctions{
      "exp",  "expm1", "log", "log1p", "sin",   "cos",     "tan",       "atan",  "sinh",
      "cosh", "tanh",  "erf", "pow",   "atan2", "sigmoid", "floor_div", "is_nan"};
  using ir::OpKind;
  if (n.op->kind == OpKind::random || n.op == &ops::random_at_op()) return 60;
  if (n.op == &ops::gather_op() && n.type.shape.count() == n.inputs[1].shape().count())
    return 12;  // lane by lane
  if (n.op->kind == OpKind::indexing || n.op->kind == OpKind::window) return 2;
  if (n.op == &ops::pad_op() || n.op == &ops::concat_op()) return 4;
  if (n.op->kind == OpKind::view || n.op->kind == OpKind::source) return 0;
  if (std::find(kDivisions.begin(), kDivisions.end(), n.op->name) != kDivisions.end()) return 8;
  if (std::find(kFunctions.begin(), kFunctions.end(), n.op->name) != kFunctions.end()) return 20;
  return 1;
}

double CostModel::of(const ir::Node* n) {
  if (is_input(n) || roots_.contains(n)) return 0.5;
  if (const auto at = known_.find(n); at != known_.end()) return at->second;
  const double c = inside(n);
  known_.emplace(n, c);
  return c;
}

double CostModel::inside(const ir::Node* root) {
  double c = own_cost(*root);
  for (const Tensor& t : root->inputs) c += of(t.id());
  return c;
}

double flops_of(const ir::Node& n, const Sizes& sizes) {
  const auto elements = static_cast<double>(n.type.shape.count(sizes));
  switch (n.op->kind) {
    case ir::OpKind::contraction: {
      const Shape& a = n.inputs[0].shape();
      const bool transposed = n.attrs.get<bool>("transpose_a", false);
      const Dim k = a[a.rank() - (transposed ? 2 : 1)];
      return 2 * elements * static_cast<double>(k.value(sizes));
    }
    case ir::OpKind::window: {
      if (!is_weight_pieces(&n)) return ops::window_flops(n, sizes);
      const ops::ConvolutionShape shape = convolution_of(n);
      return 2 * static_cast<double>(shape.batch.value(sizes)) * static_cast<double>(shape.products());
    }
    case ir::OpKind::reduction:
      return static_cast<double>(n.inputs[0].shape().count(sizes));
    case ir::OpKind::elementwise:
      return is_floating(n.type.dtype) ? elements : 0;
    default:
      return 0;
  }
}

}  // namespace tightloop::backends::cpu
