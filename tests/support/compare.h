// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a graph compiled and interpreted on the same inputs and compares the outputs.
#include <tightloop/backends/cpu/compile.h>
#include <tightloop/backends/reference/interpret.h>
#include <tightloop/base/random.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tightloop::testing {

/// Values in [low, high] (whole numbers for integers), a function of seed and element.
inline Array random_array(DType dtype, const std::vector<std::int64_t>& dims, double low, double high,
                          std::uint64_t seed) {
  Array a(dtype, dims);
  for (std::int64_t i = 0; i < a.count(); ++i) {
    const auto word = philox_block(seed, 7, 0, static_cast<std::uint64_t>(i));
    const double u = uniform_f64(word[0], word[1]);
    if (is_floating(dtype))
      a.set(i, low + (high - low) * u);
    else if (dtype == DType::boolean)
      a.set_int(i, u < 0.5);
    else
      a.set_int(i, static_cast<std::int64_t>(std::floor(low + (high - low + 1) * u)));
  }
  return a;
}

/// A graph compiled once, to run on several inputs.
class Compiled {
 public:
  explicit Compiled(const ir::Graph& graph, int threads = 1, int vector_bytes = 0) : graph_(graph) {
    backends::cpu::CpuOptions options;
    options.disk_cache = false;
    options.threads = threads;
    options.exact_threads = true;
    options.flush_denormals = false;
    options.vector_bytes = vector_bytes;
    executable_ = backends::cpu::compile_cpu(graph, options);
  }

  std::vector<Array> run(std::vector<Array> inputs, const Sizes& sizes, std::int64_t step,
                         std::uint64_t seed) {
    backends::RunArgs args;
    std::vector<Array> outputs;
    for (Array& a : inputs) {
      a = a.clone();
      args.inputs.push_back(a.bytes());
    }
    for (const auto& o : graph_.outputs) {
      outputs.emplace_back(o.value.dtype(), o.value.shape().values(sizes));
      args.outputs.push_back(outputs.back().bytes());
    }
    args.sampling.rows = sizes.batch;
    args.sampling.batch = sizes.batch;
    args.sampling.data_rows = sizes.rows;
    args.first_step = step;
    args.seed = seed;
    executable_->run(args);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      for (std::size_t k = 0; k < inputs.size(); ++k)
        if (ir::input_name(graph_.inputs[k].node()) == graph_.outputs[i].name) outputs[i] = inputs[k];
    return outputs;
  }

 private:
  ir::Graph graph_;
  std::unique_ptr<backends::Executable> executable_;
};

inline bool near(double got, double want, double relative, double absolute) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (got == want) return true;
  return std::abs(got - want) <= absolute + relative * std::abs(want);
}

/// Sizes of the differences allowed: relative error, and absolute error as a share of the largest value.
struct Tolerance {
  double relative = 2e-5;
  double of_largest = 2e-6;
};

inline void expect_same(const ir::Graph& graph, const std::vector<Array>& got, const std::vector<Array>& want,
                        Tolerance t) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t o = 0; o < want.size(); ++o) {
    double largest = 0;
    for (std::int64_t i = 0; i < want[o].count(); ++i)
      if (std::isfinite(want[o].at(i))) largest = std::max(largest, std::abs(want[o].at(i)));
    const bool f64 = want[o].dtype() == DType::f64;
    const double relative = is_floating(want[o].dtype()) ? (f64 ? t.relative * 1e-6 : t.relative) : 0;
    const double absolute =
        is_floating(want[o].dtype()) ? (f64 ? t.of_largest * 1e-6 : t.of_largest) * largest : 0;
    for (std::int64_t i = 0; i < want[o].count(); ++i)
      ASSERT_TRUE(near(got[o].at(i), want[o].at(i), relative, absolute))
          << "output " << graph.outputs[o].name << "[" << i << "]: compiled " << got[o].at(i)
          << ", interpreted " << want[o].at(i) << "\n"
          << ir::print(graph);
  }
}

}  // namespace tightloop::testing
