// SPDX-License-Identifier: Apache-2.0
// Normalisation at the values that its definition demands, and what it refuses.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/engine/compile.h>
#include <tightloop/engine/gradients.h>
#include <tightloop/nn/nn.h>

namespace tightloop::nn {
namespace {

Tensor floats(std::vector<std::int64_t> dims, std::initializer_list<float> values) {
  return Tensor(Array::of<float>(std::move(dims), values));
}

class Norms : public ::testing::TestWithParam<CompileOptions> {};

TEST_P(Norms, LayerNormOfSmallNumbersKeepsEpsInside) {
  LayerNorm layer(4);
  layer.initialize(1);
  const auto out =
      testing::evaluate(GetParam(), {{Array::of<float>({1, 4}, {1e-3F, 2e-3F, 3e-3F, 4e-3F}), true}},
                        [&](const std::vector<Tensor>& in) { return std::vector<Tensor>{layer(in[0])}; });
  EXPECT_NEAR(out[0].at(0), -0.4472136, 5e-7);
}

TEST_P(Norms, ALargeMeanDoesNotCancelTheVariance) {
  BatchNorm1d layer(1);
  layer.initialize(1);
  auto step = compile(
      [&](const Tensor& x) {
        Context context(true);
        return layer(x);
      },
      {.batch = true, .compile = GetParam()});
  const Tensor y = step(floats({4, 1}, {100001, 100003, 100001, 100003}));
  EXPECT_NEAR(y.array().at(0), -0.999995, 1e-6);
  EXPECT_NEAR(layer.running_var->array().at(0), 0.9 + 0.1 * 4.0 / 3, 1e-6);
}

TEST_P(Norms, OneValueAChannelIsReportedAndLeavesNoNaN) {
  BatchNorm layer(2);
  layer.initialize(1);
  auto step = compile(
      [&](const Tensor& x) {
        Context context(true);
        const Tensor y = layer(x);
        return std::make_pair(y, context.checks.at(0).row);
      },
      {.batch = true, .compile = GetParam()});
  EXPECT_EQ(step(floats({2, 2}, {1, 2, 3, 4})).second.array().int_at(0), -1);
  EXPECT_EQ(step(floats({1, 2}, {1, 2})).second.array().int_at(0), 0);
  for (int c = 0; c < 2; ++c) EXPECT_TRUE(std::isfinite(layer.running_var->array().at(c)));
}

INSTANTIATE_TEST_SUITE_P(Backends, Norms, ::testing::ValuesIn(testing::backends()), testing::backend_name);

TEST(NormErrors, NameTheRuleAndWhatCame) {
  BatchNorm1d flat(3);
  flat.initialize(1);
  {
    Context context(true);
    EXPECT_ERROR(flat(Tensor(Array(DType::f32, {1, 3}))),
                 "batch_norm: the statistics of a batch need more than one value per channel");
    EXPECT_NO_THROW(flat(Tensor(Array(DType::f32, {1, 3, 2}))));
  }
  EXPECT_NO_THROW(flat(Tensor(Array(DType::f32, {1, 3}))));
  EXPECT_ERROR(flat(Tensor(Array(DType::f32, {2, 4}))),
               "x must be floating [batch, 3 (, length)], got f32[2, 4]");
  EXPECT_ERROR(BatchNorm2d(3)(Tensor(Array(DType::f32, {2, 3}))), "[batch, 3, height, width], got f32[2, 3]");
  EXPECT_ERROR(BatchNorm(3, {.momentum = 1.5}),
               "momentum, the weight of the new value, must be 0..1, not 1.5");
  EXPECT_ERROR(BatchNorm(0), "the channels must be 1 or more, not 0");
  EXPECT_ERROR(BatchNorm(1, {.eps = 0}), "eps must be above 0, not 0");
  EXPECT_ERROR(InstanceNorm(3)(Tensor(Array(DType::f32, {2, 3, 1}))), "needs more than one value");
  EXPECT_ERROR(GroupNorm(2, 5), "5 channels are not divided by 2 groups");
  EXPECT_ERROR(LayerNorm({3, 4})(Tensor(Array(DType::f32, {2, 4, 3}))), "x must be floating [..., 3, 4]");
  EXPECT_ERROR(LayerNorm(std::vector<std::int64_t>{}), "at least one dim");
  EXPECT_ERROR(RMSNorm(0), "dims of at least 1, not [0]");
  const TensorType x{DType::f32, Shape{Dim::batch(), 4}};
  EXPECT_ERROR(make_layer("batch_norm", {{"momentum", "none"}}, x),
               "'momentum' must be a number, not 'none'");
  EXPECT_NO_THROW(make_layer("batch_norm", {{"momentum", {}}}, x));
  EXPECT_ERROR(make_layer("instance_norm", {{"momentum", {}}}, x), "'momentum' must be a number, not none");
  EXPECT_ERROR(make_layer("layer_norm", {{"normalized_shape", Numbers{1.5}}}, x),
               "layer_norm: 'normalized_shape' must be");
  EXPECT_ERROR(make_layer("layer_norm", {{"normalized_shape", Numbers{0}}}, x),
               "normalized_shape must be of dims of at least 1, not [0]");
}

/// Is the variable among what the tensor needs?
bool needs(const Tensor& t, const std::string& state) {
  for (const ir::Node* node : ir::topological(std::vector<Tensor>{t}))
    if (node->op->name == "input" && ir::input_name(*node) == state) return true;
  return false;
}

TEST(BiasBeforeBatchNorm, IsLeftOutWhereOnlyParametersAreDifferentiated) {
  Sequential plain(Linear(3, 2), BatchNorm(2));
  plain.initialize(1);
  for (const bool allowed : {false, true}) {
    plain.parameters();
    const Trace trace;
    Context context(true);
    context.parameters_only = allowed;
    const Tensor y = plain(input("x", "argument", {DType::f32, {Dim::batch(), 3}}));
    EXPECT_TRUE(needs(y, "0.weight"));
    EXPECT_EQ(needs(y, "0.bias"), !allowed);
    int means = 0;
    for (const auto& used : trace.used()) {
      if (used.variable.name() != "1.running_mean") continue;
      ++means;
      EXPECT_TRUE(needs(used.next, "0.bias"));
    }
    EXPECT_EQ(means, 1);
  }
}

}  // namespace
}  // namespace tightloop::nn
