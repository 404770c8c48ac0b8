// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tests/support/files.h>
#include <tightloop/backends/reference/interpret.h>
#include <tightloop/ops/functions.h>
#include <tightloop/passes/differentiate.h>

#include <cmath>

namespace tightloop {
namespace {

Tensor argument(const std::string& name, Shape shape, DType dtype = DType::f64) {
  return input(name, "argument", {dtype, std::move(shape)});
}

std::vector<Array> run(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs,
                       const std::vector<Array>& values) {
  ir::Graph g{"g", inputs, {}};
  for (const Tensor& t : outputs) g.outputs.push_back({"y" + std::to_string(g.outputs.size()), t});
  return backends::interpret(g, values);
}

TEST(Gradients, SumOverEveryUse) {
  const Tensor x = argument("x", {3});
  const auto g = gradients(sum(x * x + 2.0 * x), {x});
  const auto out = run({x}, g, {Array::of<double>({3}, {1, -2, 0.5})});
  EXPECT_EQ(out[0].at(0), 4);
  EXPECT_EQ(out[0].at(1), -2);
  EXPECT_EQ(out[0].at(2), 3);
}

TEST(Gradients, WhatLossDoesNotNeedGetsZeros) {
  const Tensor x = argument("x", {3});
  const Tensor y = argument("y", {2});
  const auto g = gradients(sum(x), {y, x});
  EXPECT_EQ(g[0].type(), y.type());
  const auto out = run({x, y}, g, {Array(DType::f64, {3}), Array(DType::f64, {2})});
  EXPECT_EQ(out[0].at(1), 0);
  EXPECT_EQ(out[1].at(1), 1);
}

TEST(Gradients, OfAnInnerTensorStopThere) {
  const Tensor x = argument("x", {});
  const Tensor h = x * 3.0;
  const auto g = gradients(h * h, {h, x});
  const auto out = run({x}, g, {Array::scalar(2.0)});
  EXPECT_EQ(out[0].at(0), 12);
  EXPECT_EQ(out[1].at(0), 36);
}

TEST(Gradients, OfGradients) {
  const Tensor x = argument("x", {});
  Tensor d = sin(x);
  for (int i = 0; i < 4; ++i) d = gradients(d, {x})[0];
  EXPECT_NEAR(run({x}, {d}, {Array::scalar(0.7)})[0].at(0), std::sin(0.7), 1e-12);
}

TEST(Gradients, TakeASeed) {
  const Tensor x = argument("x", {2});
  const auto g = gradients(x * x, {x}, Tensor(Array::of<double>({2}, {1, 10})));
  const auto out = run({x}, g, {Array::of<double>({2}, {3, 4})});
  EXPECT_EQ(out[0].at(0), 6);
  EXPECT_EQ(out[0].at(1), 80);
}

TEST(Gradients, StopAtStopGradientAndSteps) {
  const Tensor x = argument("x", {});
  const auto g = gradients(stop_gradient(x) * x + floor(x), {x});
  EXPECT_EQ(run({x}, g, {Array::scalar(2.5)})[0].at(0), 2.5);
}

TEST(Gradients, OfDeepGraphs) {
  const Tensor x = argument("x", {});
  Tensor y = x;
  for (int i = 0; i < 50000; ++i) y = y + x;
  EXPECT_EQ(run({x}, gradients(y, {x}), {Array::scalar(1.0)})[0].at(0), 50001);
}

TEST(Gradients, RefuseWhatHasNone) {
  const Tensor x = argument("x", {3});
  EXPECT_ERROR(gradients(x, {x}), "the loss must be a scalar, f64[3] came; reduce it");
  EXPECT_ERROR(gradients(sum(cast(x, DType::i32)), {x}), "the loss must be floating");
  EXPECT_ERROR(gradients(sum(x), {argument("i", {3}, DType::i64)}), "only floating tensors have a gradient");
  EXPECT_ERROR(gradients(sum(x), {x}, scalar(1, DType::f32)), "the seed must be f64[]");
}

}  // namespace
}  // namespace tightloop
