// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/ir/scalar.h>
#include <tightloop/ir/tensor.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tightloop::ir {

/// What a backend must know of an op to place it in a loop nest.
enum class OpKind : std::uint8_t {
  source,       ///< no inputs: input, constant, iota, size
  elementwise,  ///< out[i] = body(in[i]...), all shapes equal
  view,         ///< moves elements only: reshape, broadcast, transpose, slice, concat, pad
  reduction,    ///< over attribute `axes` (or `axis`)
  contraction,  ///< matmul
  indexing,     ///< gather, scatter_add, plane_gather, plane_scatter
  window,       ///< convolutions and pooling: reads windows of the dims after batch and channels
  random,       ///< Philox: a function of (seed, step, stream, element)
};

/// Autocast class (used by the mixed-precision pass).
enum class Precision : std::uint8_t { follow, low, high };

struct AttrSpec {
  std::string_view name;
  AttrValue example;     ///< fixes the type
  bool required = true;  ///< an optional attribute equal to its default is not stored
};

/// What infer() sees. `declared` is null unless the op is `typed`.
struct InferArgs {
  const OpDef& op;
  std::span<const Tensor> inputs;
  const Attrs& attrs;
  const TensorType* declared;
};

/// What evaluate() sees: inputs as arrays, `out` zeroed with the right dims. Arrays of f32 values may
/// be held in f64 (the interpreter's precise mode), so read by at() and write by set().
struct EvalArgs {
  const Node& node;
  std::span<const Array* const> inputs;
  Array& out;
  Sizes sizes;
};

/// A case that the tests walk: input types, attributes, the declared type, and the range that
/// the inputs' values are drawn from (where the op is defined and smooth).
struct Sample {
  std::vector<TensorType> inputs;
  Attrs attrs = {};
  std::vector<TensorType> declared = {};  ///< empty or one
  double low = -2;
  double high = 2;
  double tolerance = 0;  ///< extra relative error allowed to the compiled f32 result; 0: the default
};

using InferFn = TensorType (*)(const InferArgs&);
using EvaluateFn = void (*)(const EvalArgs&);
using BodyFn = Scalar (*)(ScalarBuilder&, std::span<const Scalar>, const Node&);
/// Gradients of the inputs, given the node itself as `y` and the gradient `g` of its output (same
/// type as y). An undefined Tensor means no gradient.
using VjpFn = std::vector<Tensor> (*)(const Tensor& y, const Tensor& g);
using SamplesFn = std::vector<Sample> (*)();

/// Everything there is to know of an op. One per file in ops/, listed in ops/index.cpp.
struct OpDef {
  std::string_view name;
  std::string_view doc;
  OpKind kind = OpKind::elementwise;
  int arity = 1;       ///< -1: one or more
  bool typed = false;  ///< the result type is given by who makes the node (and printed)
  std::vector<AttrSpec> attrs = {};
  InferFn infer = nullptr;
  EvaluateFn evaluate = nullptr;  ///< the reference meaning
  BodyFn body = nullptr;          ///< elementwise and random ops: the fast scalar code
  VjpFn vjp = nullptr;            ///< null: not differentiable (gradient stops)
  Precision precision = Precision::follow;
  SamplesFn samples = nullptr;
};

}  // namespace tightloop::ir
