// SPDX-License-Identifier: Apache-2.0
#pragma once
// A graph of one op from a sample of its definition, and values to run it on.
#include <tightloop/backends/reference/interpret.h>
#include <tightloop/base/random.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

#include <cmath>
#include <string>
#include <vector>

namespace tightloop::testing {

inline constexpr Sizes kSizes{5, 7};  // odd, different, and more than the samples' indices

/// Values in [low, high], whole for integers: a function of seed and element.
inline Array draw(const TensorType& type, double low, double high, std::uint64_t seed) {
  Array a(type.dtype, type.shape.values(kSizes));
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const auto words = philox_block(seed, 1, 0, static_cast<std::uint64_t>(i));
    const double u = uniform_f64(words[0], words[1]);
    if (is_floating(type.dtype))
      a.set(i, low + (high - low) * u);
    else
      a.set_int(i, type.dtype == DType::boolean
                       ? u < 0.5
                       : static_cast<std::int64_t>(std::floor(low + (high - low + 1) * u)));
  }
  return a;
}

struct SampleGraph {
  std::vector<Tensor> inputs;
  std::vector<Array> values;
  Tensor y;
  ir::Graph graph(const std::vector<Tensor>& outputs) const {
    ir::Graph g{"sample", inputs, {}};
    for (const Tensor& t : outputs) g.outputs.push_back({"y" + std::to_string(g.outputs.size()), t});
    return g;
  }
};

inline SampleGraph make(const ir::OpDef& op, const ir::Sample& sample, std::uint64_t seed = 1) {
  SampleGraph s;
  for (const TensorType& type : sample.inputs) {
    s.inputs.push_back(input("x" + std::to_string(s.inputs.size()), "argument", type));
    s.values.push_back(draw(type, sample.low, sample.high, seed * 100 + s.values.size()));
  }
  s.y = ir::make_node(op, s.inputs, sample.attrs, sample.declared.empty() ? nullptr : &sample.declared[0]);
  if (op.name == "input") {
    s.inputs.push_back(s.y);
    s.values.push_back(draw(s.y.type(), sample.low, sample.high, seed));
  }
  return s;
}

inline std::vector<Array> run(const SampleGraph& s, const std::vector<Tensor>& outputs,
                              bool precise = false) {
  return backends::interpret(s.graph(outputs), s.values, {.sizes = kSizes, .precise = precise});
}

/// The value of a tensor made of literals.
inline Array value(const Tensor& t, bool precise = false) {
  return backends::interpret({"value", {}, {{"y", t}}}, {}, {.sizes = kSizes, .precise = precise})[0];
}

}  // namespace tightloop::testing
