// SPDX-License-Identifier: Apache-2.0
// Every sample of every op with a new leading axis on each choice of its inputs, against the op applied entry
// by entry.
#include <tightloop/passes/vectorize.h>

#include <tests/ops/sample_graph.h>
#include <tests/support/compare.h>
#include <tests/support/files.h>
#include <tightloop/ops/functions_spatial.h>
#include <tightloop/passes/differentiate.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace tightloop {
namespace {

using testing::draw;
using testing::kSizes;
using testing::SampleGraph;

TensorType wider(const TensorType& t, const Dim& n) {
  std::vector<Dim> dims{n};
  dims.insert(dims.end(), t.shape.begin(), t.shape.end());
  return {t.dtype, Shape(std::move(dims))};
}

Array entry(const Array& all, std::int64_t i, const std::vector<std::int64_t>& dims) {
  Array out(all.dtype(), dims);
  std::memcpy(out.bytes(), all.bytes() + static_cast<std::size_t>(i) * out.size_bytes(), out.size_bytes());
  return out;
}

/// The inputs in `mask` get the axis.
void check(const ir::OpDef& op, const ir::Sample& sample, unsigned mask, const Dim& n) {
  SampleGraph one = testing::make(op, sample);
  SampleGraph all = one;
  std::vector<Tensor> samples, values;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    if ((mask >> i & 1) == 0) continue;
    const TensorType type = wider(one.inputs[i].type(), n);
    all.inputs[i] = input("all" + std::to_string(i), "argument", type);
    all.values[i] = draw(type, sample.low, sample.high, 900 + i);
    samples.push_back(one.inputs[i]);
    values.push_back(all.inputs[i]);
  }
  const Tensor y = vectorize({one.y}, samples, values)[0];
  ASSERT_EQ(y.type(), wider(one.y.type(), n));
  const Array got = testing::run(all, {y})[0];
  for (std::int64_t e = 0; e < n.value(kSizes); ++e) {
    for (std::size_t i = 0; i < one.inputs.size(); ++i)
      if ((mask >> i & 1) != 0) one.values[i] = entry(all.values[i], e, one.inputs[i].shape().values(kSizes));
    const Array wanted = testing::run(one, {one.y})[0];
    const Array came = entry(got, e, wanted.dims());
    const double of_sums =
        op.kind == ir::OpKind::window || op.name == "attention" ? sample.tolerance + 1e-6 : 0;
    for (std::int64_t i = 0; i < wanted.count(); ++i)
      ASSERT_TRUE(testing::near(came.at(i), wanted.at(i), of_sums, of_sums))
          << "entry " << e << " element " << i << ": " << came.at(i) << ", wanted " << wanted.at(i);
  }
}

/// The sample with 2 rows where it had as many as the batch.
ir::Sample with_rows(ir::Sample s) {
  for (auto* types : {&s.inputs, &s.declared})
    for (TensorType& t : *types) {
      std::vector<Dim> dims = t.shape.dims();
      for (Dim& d : dims)
        if (d.symbol == Symbol::batch) d = 2 * d.factor;
      t.shape = Shape(std::move(dims));
    }
  return s;
}

bool is_static(const ir::Sample& s) {
  const auto all_numbers = [](const std::vector<TensorType>& types) {
    return std::all_of(types.begin(), types.end(), [](const auto& t) { return t.shape.is_static(); });
  };
  return all_numbers(s.inputs) && all_numbers(s.declared);
}

TEST(Vectorize, EveryOpTakesAnAxis) {
  for (const ir::OpDef* op : ops::all_ops())
    for (const ir::Sample& sample : op->samples())
      for (unsigned mask = 1; mask < 1U << sample.inputs.size(); ++mask) {
        SCOPED_TRACE(std::string(op->name) + " mask " + std::to_string(mask) + " of " +
                     (sample.inputs.empty() ? "" : to_string(sample.inputs[0])));
        ASSERT_NO_FATAL_FAILURE(check(*op, sample, mask, Dim(3)));
        const bool reads_planes = op->kind == ir::OpKind::window || op->name.starts_with("plane_");
        const ir::Sample rows = reads_planes || op->name == "attention" ? with_rows(sample) : sample;
        // Draws from seeds of their own go entry by entry, which a number of entries unknown to the graph
        // does not allow.
        const bool seeds =
            op->kind == ir::OpKind::random ||
            (op->name == "attention" && sample.inputs.size() > 4 && mask >> (sample.inputs.size() - 2) != 0);
        if (!is_static(rows) || seeds) continue;
        ASSERT_NO_FATAL_FAILURE(check(*op, rows, mask, Dim::batch()));
      }
}

TEST(Vectorize, WindowsStayOneOpOrBecomeOneProduct) {
  const Dim batch = Dim::batch();
  const Tensor x = input("x", "argument", {DType::f32, {1, 3, 8, 8}});
  const Tensor w = input("w", "argument", {DType::f32, {4, 3, 3, 3}});
  const auto count = [](const std::vector<Tensor>& y, std::string_view name) {
    const auto nodes = ir::topological(y);
    return std::count_if(nodes.begin(), nodes.end(), [&](const auto* n) { return n->op->name == name; });
  };
  const Tensor loss = sum(square(convolution(x, w)));
  const Tensor slope = gradients(loss, {w})[0];
  for (const Dim& n : {Dim(5), batch}) {
    const auto y = vectorize({slope}, {x}, {input("all", "argument", {DType::f32, {n, 1, 3, 8, 8}})});
    EXPECT_EQ(count(y, "convolution"), 1);
    EXPECT_EQ(count(y, "convolution_weight_grad"), n.is_static() ? 1 : 0);
    EXPECT_EQ(count(y, "matmul"), n.is_static() ? 0 : 1);
  }
}

TEST(Vectorize, TwoSymbolsInABatchOfWindowsAreRefused) {
  const Tensor x = input("x", "argument", {DType::f32, {Dim::batch(), 1, 4}});
  const Tensor all = input("all", "argument", {DType::f32, {Dim::rows(), Dim::batch(), 1, 4}});
  const Tensor w = input("w", "argument", {DType::f32, {1, 1, 3}});
  EXPECT_ERROR(vectorize({convolution(x, w)}, {x}, {all}), "map over a static axis");
}

TEST(Vectorize, WhatNoSampleReachesIsSharedAndRepeated) {
  const Tensor x = input("x", "argument", {DType::f64, {2}});
  const Tensor all = input("all", "argument", {DType::f64, {3, 2}});
  const Tensor w = input("w", "argument", {DType::f64, {2}});
  const Tensor shared = exp(w);
  const auto y = vectorize({x * shared, shared}, {x}, {all});
  std::size_t exponentials = 0;
  for (const ir::Node* node : ir::topological(y)) {
    exponentials += node->op->name == "exp" ? 1 : 0;
    EXPECT_NE(node, x.id());
  }
  EXPECT_EQ(exponentials, 1U);
  EXPECT_EQ(y[1].type(), all.type());
}

TEST(Vectorize, AProductWithASharedMatrixStaysOneProduct) {
  const Tensor x = input("x", "argument", {DType::f32, {4}});
  const Tensor all = input("all", "argument", {DType::f32, {Dim::batch(), 4}});
  const Tensor w = input("w", "argument", {DType::f32, {5, 4}});
  const auto y = vectorize({matmul_transposed(x, w)}, {x}, {all});
  for (const ir::Node* node : ir::topological(y))
    EXPECT_TRUE(node->op->name != "matmul" || to_string(node->type) == "f32[B, 5]") << to_string(node->type);
}

}  // namespace
}  // namespace tightloop
