// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tests/support/files.h>
#include <tightloop/backends/reference/interpret.h>
#include <tightloop/ops/functions.h>
#include <tightloop/ops/index.h>
#include <tightloop/passes/autocast.h>
#include <tightloop/passes/differentiate.h>
#include <tightloop/passes/pipeline.h>

#include <cmath>
#include <map>

namespace tightloop {
namespace {

Tensor argument(const std::string& name, Shape shape, DType dtype = DType::f32) {
  return input(name, "argument", {dtype, std::move(shape)});
}

bool is_rounding(const Tensor& t, DType low) {
  return t.node().op == &ops::cast_op() && t.node().inputs[0].dtype() == low &&
         t.node().inputs[0].node().op == &ops::cast_op();
}

/// Casts to `low` in what `values` need.
int roundings(const std::vector<Tensor>& values, DType low) {
  int count = 0;
  for (const ir::Node* n : ir::topological(values)) count += n->op == &ops::cast_op() && n->type.dtype == low;
  return count;
}

const ir::Node* find(const std::vector<Tensor>& values, const ir::OpDef& op) {
  for (const ir::Node* n : ir::topological(values))
    if (n->op == &op) return n;
  return nullptr;
}

double run_one(const Tensor& value) { return backends::interpret({"g", {}, {{"y", value}}}, {})[0].at(0); }

class Autocast : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Low, Autocast, ::testing::Values(DType::bf16, DType::f16),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(Autocast, ProductsReadRoundedOperandsAndGiveRoundedResults) {
  const Tensor x = argument("x", {Dim::batch(), 8}), w = argument("w", {4, 8});
  const std::vector<Tensor> y = autocast({matmul_transposed(x, w)}, {.low = GetParam()});
  EXPECT_EQ(y[0].dtype(), DType::f32);
  const ir::Node* product = find(y, ops::matmul_op());
  ASSERT_NE(product, nullptr);
  EXPECT_TRUE(is_rounding(product->inputs[0], GetParam()));
  EXPECT_TRUE(is_rounding(product->inputs[1], GetParam()));
  EXPECT_EQ(roundings(y, GetParam()), 3);
}

TEST_P(Autocast, NothingIsRoundedTwice) {
  const Tensor x = argument("x", {Dim::batch(), 8}), w = argument("w", {8, 8});
  const Tensor h = relu(matmul(x, w));
  const std::vector<Tensor> y = autocast({matmul(h, w) + matmul(relu(h), w)}, {.low = GetParam()});
  // x, w, the first product, h, relu(h), the two products.
  EXPECT_EQ(roundings(y, GetParam()), 7);
}

TEST_P(Autocast, WhoReadsAnOperandReadsItRounded) {
  const Tensor x = argument("x", {Dim::batch(), 8}), w = argument("w", {8, 8});
  const Tensor h = tanh(matmul(x, w));
  const std::vector<Tensor> y = autocast({h + matmul(h, w)}, {.low = GetParam()});
  const ir::Node* sum = find(y, ops::add_op());
  EXPECT_TRUE(is_rounding(sum->inputs[0], GetParam())) << "the residual is the value that the product reads";
}

TEST_P(Autocast, ReductionsNormsAndSoftmaxStayF32) {
  const Tensor x = argument("x", {Dim::batch(), 600}), w = argument("w", {600, 600});
  const Tensor h = matmul(x, w);
  const Tensor centred = h - mean(h, {1}, true);
  const Tensor norm = centred * rsqrt(mean(square(centred), {1}, true) + 1e-5);
  const std::vector<Tensor> y = autocast({softmax(norm, 1)}, {.low = GetParam()});
  EXPECT_EQ(roundings(y, GetParam()), 3) << "x, w and the product alone";
}

TEST_P(Autocast, SumsOfOnesAreWhole) {
  const Tensor ones_row = ones({1, 600}, DType::f32), ones_column = ones({600, 1}, DType::f32);
  EXPECT_EQ(run_one(autocast({sum(ones({600}, DType::f32))}, {.low = GetParam()})[0]), 600);
  EXPECT_EQ(run_one(autocast({sum(matmul(ones_row, ones_column))}, {.low = GetParam()})[0]), 600);
}

TEST_P(Autocast, RegionsStayF32) {
  const Tensor x = argument("x", {Dim::batch(), 8}), w = argument("w", {8, 8});
  const Tensor h = matmul(x, w);
  Tensor y;
  {
    const InF32 region;
    y = matmul(h, w);
  }
  EXPECT_EQ(roundings(autocast({y}, {.low = GetParam()}), GetParam()), 3);
}

TEST_P(Autocast, OnlyTheChosen) {
  const Tensor x = argument("x", {Dim::batch(), 8}), w = argument("w", {8, 8}), v = argument("v", {8, 2});
  const auto wide = [](const ir::Node& n) { return n.type.shape[1].factor == 8; };
  const std::vector<Tensor> y = autocast({matmul(matmul(x, w), v)}, {.low = GetParam(), .chosen = wide});
  EXPECT_EQ(roundings(y, GetParam()), 3);
}

TEST_P(Autocast, HalfAModelRoundsWhatLayersHandOn) {
  const auto layer = [](const Tensor& x, const std::string& name) {
    const ir::Scope scope(name);
    return x * 1.5 + 0.25;
  };
  const Tensor table = argument("table", {5, 8});
  const Tensor rows = gather(table, argument("i", {Dim::batch()}, DType::i32));
  const Tensor y = layer(layer(rows, "first"), "second");
  EXPECT_EQ(roundings(autocast({y}, {.low = GetParam()}), GetParam()), 0);
  EXPECT_EQ(roundings(autocast({y}, {.low = GetParam(), .between_layers = true}), GetParam()), 2)
      << "the table's rows, and what the first layer gives the second";
}

TEST_P(Autocast, GradientsAreRoundedWhereValuesAre) {
  const Tensor x = argument("x", {2, 3}), w = argument("w", {3, 1});
  const Tensor loss = sum(autocast({matmul(x, w)}, {.low = GetParam()})[0] * 1e-9);
  const std::vector<Tensor> g = gradients(loss, {w});
  const auto values = [&](double scale) {
    return backends::interpret(
               {"g", {x, w}, {{"g", g[0] * scale}}},
               {Array::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), Array::of<float>({3, 1}, {1, 1, 1})})[0]
        .at(0);
  };
  if (GetParam() == DType::f16)
    EXPECT_EQ(values(1), 0) << "1e-9 is nothing in f16";
  else
    EXPECT_NEAR(values(1), 5e-9, 5e-11);
}

TEST_P(Autocast, AScaledGradientSurvives) {
  const Tensor w = argument("w", {1, 1}), x = ones({1, 1}, DType::f32);
  const Tensor loss = sum(autocast({matmul(x, w)}, {.low = DType::f16})[0] * 1e-8);
  const Tensor scaled = gradients(loss * 65536.0, {w})[0] / 65536.0;
  const auto g = [&](const Tensor& t) {
    return backends::interpret({"g", {w}, {{"g", t}}}, {Array::of<float>({1, 1}, {1})})[0].at(0);
  };
  EXPECT_EQ(g(gradients(loss, {w})[0]), 0);
  EXPECT_NEAR(g(scaled), 9.997e-9, 1e-11);
}

TEST_P(Autocast, DoublesAndIntegersAreLeftAlone) {
  const Tensor x = argument("x", {2, 2}, DType::f64);
  const Tensor y = matmul(x, x);
  EXPECT_EQ(autocast({y}, {.low = GetParam()})[0].id(), y.id());
}

TEST_P(Autocast, PassesKeepTheRoundings) {
  const Tensor x = argument("x", {Dim::batch(), 8}), w = argument("w", {8, 8});
  const std::vector<Tensor> y = autocast({matmul(relu(matmul(x, w)), w)}, {.low = GetParam()});
  const ir::Graph g = ir::run_passes({"g", {x, w}, {{"y", y[0]}}}, passes::pipeline()).graph;
  EXPECT_EQ(roundings({g.outputs[0].value}, GetParam()), roundings(y, GetParam()));
}

TEST(AutocastOptions, RefuseOtherTypes) {
  EXPECT_ERROR(autocast({ones({1}, DType::f32)}, {.low = DType::f64}), "must be bf16 or f16, not f64");
}

}  // namespace
}  // namespace tightloop
