// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/tensor.h>

#include <functional>
#include <string_view>
#include <vector>

namespace tightloop {

/// What autocast() rounds to bf16 or f16.
struct AutocastOptions {
  DType low = DType::bf16;
  /// What layers hand to each other is rounded too, as in a model whose parameters are of type `low`: less
  /// memory, and a sum over many layers loses digits.
  bool between_layers = false;
  /// Which products and convolutions compute with rounded operands; empty: all.
  std::function<bool(const ir::Node&)> chosen = {};
};

/// While it lives, what this thread makes stays f32 in autocast().
class InF32 {
 public:
  InF32() : scope_(kMark) {}
  /// Part of the path of such nodes.
  static constexpr const char* kMark = "f32()";

 private:
  ir::Scope scope_;
};

/// Mixed precision: `values`, all of them computed from the same nodes, with
/// - the operands and results of ops of precision class `low` (matrix products, convolutions, attention)
///   rounded to options.low; sums inside are f32;
/// - what such an op reads, and what was computed element by element from rounded values, rounded once for
/// all
///   who read it;
/// - everything else, reductions, norms, softmax and losses among it, f32.
/// A rounding is cast(cast(x, low), f32): all types stay f32, and a value that a backend stores is stored
/// low. The gradients of the result are rounded where the values are. f64 and integers are left alone.
std::vector<Tensor> autocast(const std::vector<Tensor>& values, const AutocastOptions& options);

}  // namespace tightloop
