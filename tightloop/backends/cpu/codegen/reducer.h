// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/codegen/kernels.h>
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/ops/index.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace tightloop::backends::cpu {

/// What all reductions of a kernel share: input dims kept and reduced (without dims of 1).
struct Shapes {
  Shape input;
  std::vector<std::size_t> kept;
  std::vector<std::size_t> reduced;
};

inline Shapes shapes_of(const ir::Node* reduction) {
  Shapes s{reduction->inputs[0].shape(), {}, {}};
  ir::Ints axes;
  if (reduction->attrs.find("axes") != nullptr)
    axes = reduction->attrs.at<ir::Ints>("axes");
  else
    axes = {reduction->attrs.at<std::int64_t>("axis")};
  for (std::size_t d = 0; d < s.input.rank(); ++d) {
    if (s.input[d].is(1)) continue;
    const bool gone = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) != axes.end();
    (gone ? s.reduced : s.kept).push_back(d);
  }
  return s;
}

/// One reduction's arithmetic.
class Reducer {
 public:
  Reducer(KernelBuilder& k, const ir::Node* n) : k_(k), node_(n), input_(n->inputs[0].id()) {}

  const ir::Node* node() const { return node_; }
  DType dtype() const { return compute_dtype(input_->type.dtype); }
  bool is_arg() const { return node_->attrs.find("axis") != nullptr; }
  bool is_sum() const { return node_->op == &ops::reduce_sum_op() || is_group_sum(node_); }

  llvm::Value* identity() {
    const DType d = dtype();
    if (is_sum()) return VectorBuilder::value(k_.scalar().constant(d, 0));
    const bool largest = node_->op == &ops::reduce_max_op() || node_->op == &ops::argmax_op();
    if (d == DType::boolean) return VectorBuilder::value(k_.scalar().constant_int(d, largest ? 0 : 1));
    if (is_floating(d)) {
      const double inf = std::numeric_limits<double>::infinity();
      return VectorBuilder::value(k_.scalar().constant(d, largest ? -inf : inf));
    }
    const auto limit = [&](auto zero) {
      using T = decltype(zero);
      return static_cast<std::int64_t>(largest ? std::numeric_limits<T>::min()
                                               : std::numeric_limits<T>::max());
    };
    const std::int64_t v = d == DType::i64   ? limit(std::int64_t{})
                           : d == DType::i32 ? limit(std::int32_t{})
                                             : limit(std::uint8_t{});
    return VectorBuilder::value(k_.scalar().constant_int(d, v));
  }

  llvm::Value* combine(llvm::Value* a, llvm::Value* b) {
    VectorBuilder& s = k_.scalar();
    const ir::Scalar x = s.wrap(a, dtype());
    const ir::Scalar y = s.wrap(b, dtype());
    if (is_sum()) return VectorBuilder::value(s.add(x, y));
    return VectorBuilder::value(node_->op == &ops::reduce_max_op() ? s.max(x, y) : s.min(x, y));
  }

  /// The input's value at `p`, the identity in masked lanes; for a sum, added to `sum` in one rounding where
  /// the value is a product.
  llvm::Value* accumulate(llvm::Value* into, const Position& p) {
    VectorBuilder& s = k_.scalar();
    const bool product = is_sum() && input_->op == &ops::mul_op() && is_compute_float(dtype()) &&
                         !k_.plan().schedule.is_root(input_);
    if (product) {
      const Emitted a = k_.emit(input_->inputs[0].id(), p);
      const Emitted b = k_.emit(input_->inputs[1].id(), p);
      k_.stand_at(k_.level());
      llvm::Value* sum =
          VectorBuilder::value(s.fma(s.wrap(a.v, dtype()), s.wrap(b.v, dtype()), s.wrap(into, dtype())));
      return guarded() ? k_.ir().CreateSelect(k_.mask(), sum, into) : sum;
    }
    return combine(into, value(p));
  }

  /// Lanes are outputs, not elements of the sum: those beyond the mask need no care, they are never stored.
  void lanes_are_outputs() { lanes_are_outputs_ = true; }

  llvm::Value* value(const Position& p) {
    const Emitted e = k_.emit(input_, p);
    k_.stand_at(k_.level());
    if (!guarded()) return k_.splat(e.v);
    return k_.ir().CreateSelect(k_.mask(), k_.splat(e.v), k_.splat(identity()));
  }

 private:
  bool guarded() const { return k_.mask() != nullptr && !lanes_are_outputs_; }

  KernelBuilder& k_;
  const ir::Node* node_;
  const ir::Node* input_;
  bool lanes_are_outputs_ = false;
};

}  // namespace tightloop::backends::cpu
