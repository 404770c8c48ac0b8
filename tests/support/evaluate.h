// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a function of tensors on one backend, with the first dim of chosen arrays as the batch.
#include <tightloop/engine/program.h>
#include <tightloop/engine/trace.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tightloop::testing {

/// An argument of a traced function.
struct Feed {
  Array value;
  bool batched = false;  ///< dim 0 is B
};

inline TensorType type_of(const Feed& feed) {
  std::vector<Dim> dims(feed.value.dims().begin(), feed.value.dims().end());
  if (feed.batched) dims.at(0) = Dim::batch();
  return {feed.value.dtype(), Shape(std::move(dims))};
}

using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

inline ir::Graph trace(const std::vector<Feed>& feeds, const Function& function,
                       std::vector<Trace::Used>* used = nullptr) {
  Trace recorder;
  std::vector<Tensor> arguments;
  for (std::size_t i = 0; i < feeds.size(); ++i)
    arguments.push_back(input("argument" + std::to_string(i), "argument", type_of(feeds[i])));
  std::vector<ir::Graph::Output> outputs;
  for (const Tensor& t : function(arguments))
    outputs.push_back({"output" + std::to_string(outputs.size()), t});
  if (used != nullptr) *used = recorder.used();
  return recorder.graph("traced", arguments, outputs);
}

/// A function compiled for a symbolic batch, for arguments of the feeds' types.
class Evaluation {
 public:
  Evaluation(const CompileOptions& options, const std::vector<Feed>& feeds, const Function& function)
      : graph_(trace(feeds, function, &used_)), program_(Program::compile(graph_, options)) {}

  std::vector<Array> operator()(const std::vector<Feed>& feeds) {
    std::int64_t batch = 1;
    for (std::size_t i = 0; i < feeds.size(); ++i) {
      program_.bind("argument" + std::to_string(i), feeds[i].value);
      if (feeds[i].batched) batch = feeds[i].value.dims()[0];
    }
    for (const auto& u : used_) program_.bind(ir::input_name(u.input.node()), u.variable.shared());
    program_.run_once(batch);
    std::vector<Array> out;
    for (const auto& o : graph_.outputs)
      if (o.name == "output" + std::to_string(out.size())) out.push_back(program_.result(o.name).clone());
    return out;
  }

 private:
  std::vector<Trace::Used> used_;
  ir::Graph graph_;
  Program program_;
};

inline std::vector<Array> evaluate(const CompileOptions& options, const std::vector<Feed>& feeds,
                                   const Function& function) {
  return Evaluation(options, feeds, function)(feeds);
}

/// Every element within `relative` of the wanted one, or within `absolute`; NaN meets NaN.
inline void expect_close(const Array& got, const Array& wanted, double relative, double absolute = 0) {
  ASSERT_EQ(got.dims(), wanted.dims());
  for (std::int64_t i = 0; i < got.count(); ++i) {
    const double a = got.at(i), b = wanted.at(i);
    if ((std::isnan(a) && std::isnan(b)) || a == b) continue;
    ASSERT_LE(std::abs(a - b), std::max(absolute, relative * std::abs(b)))
        << "element " << i << ": " << a << ", wanted " << b;
  }
}

/// The backends a numeric test runs on.
inline std::vector<CompileOptions> backends() {
  CompileOptions reference, cpu;
  reference.backend = Backend::reference;
  cpu.backend = Backend::cpu;
  cpu.disk_cache = false;
  return {reference, cpu};
}

inline std::string backend_name(const ::testing::TestParamInfo<CompileOptions>& info) {
  return info.param.backend == Backend::cpu ? "cpu" : "reference";
}

}  // namespace tightloop::testing
