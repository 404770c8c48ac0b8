// SPDX-License-Identifier: Apache-2.0
// Layers at the values that the definitions demand, and what they refuse.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/nn/nn.h>
#include <tightloop/passes/differentiate.h>

#include <cmath>
#include <set>

namespace tightloop::nn {
namespace {

Array floats(std::vector<std::int64_t> dims, std::vector<float> values) {
  return Array::of<float>(std::move(dims), std::span<const float>(values));
}

Array whole(std::vector<std::int64_t> dims, std::vector<std::int64_t> values) {
  return Array::of<std::int64_t>(std::move(dims), std::span<const std::int64_t>(values));
}

Array filled(std::vector<std::int64_t> dims, double value) {
  Array a(DType::f32, std::move(dims));
  for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, value);
  return a;
}

class Layers : public ::testing::TestWithParam<CompileOptions> {
 protected:
  /// {output, gradient of its sum} of dropout in training at a step.
  std::vector<Array> drop(double p, const Array& x, std::int64_t seed, std::int64_t step,
                          int layers_before = 0) {
    const Array s = Array::scalar(seed), t = Array::scalar(step);
    return testing::evaluate(GetParam(), {{x, true}, {s}, {t}}, [&](const std::vector<Tensor>& in) {
      Context context(true, in[1], in[2]);
      for (int i = 0; i < layers_before; ++i) (void)Dropout{p}(in[0]);
      const Tensor y = Dropout(p)(in[0]);
      return std::vector<Tensor>{y, gradients(sum(y), {in[0]})[0]};
    });
  }
};

TEST_P(Layers, DropoutScalesSurvivorsAndUsesOneMaskBothWays) {
  const auto out = drop(0.3, filled({257, 17}, 1), 1, 0);
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < out[0].count(); ++i) {
    EXPECT_EQ(out[0].at(i), out[1].at(i));
    if (out[0].at(i) == 0) continue;
    ++kept;
    EXPECT_FLOAT_EQ(static_cast<float>(out[0].at(i)), 1.4285714f);
  }
  EXPECT_NEAR(static_cast<double>(kept) / (257 * 17), 0.7, 0.03);
}

TEST_P(Layers, DropoutDrawsAnotherMaskForEachStepLayerAndSeedAndRepeats) {
  const Array x = filled({64, 8}, 1);
  const Array first = drop(0.5, x, 1, 0)[0];
  EXPECT_TRUE(identical(first, drop(0.5, x, 1, 0)[0]));
  EXPECT_FALSE(identical(first, drop(0.5, x, 1, 1)[0]));
  EXPECT_FALSE(identical(first, drop(0.5, x, 2, 0)[0]));
  EXPECT_FALSE(identical(first, drop(0.5, x, 1, 0, 1)[0]));
}

TEST_P(Layers, DropoutOfNothingIsTheIdentityAndOfAllIsZero) {
  const Array x = floats({2, 3}, {1, -2, INFINITY, 1e-30f, 0, 7});
  EXPECT_TRUE(identical(drop(0, x, 1, 0)[0], x));
  const auto none = drop(1, x, 1, 0);
  EXPECT_TRUE(identical(none[0], filled({2, 3}, 0)));
  EXPECT_TRUE(identical(none[1], filled({2, 3}, 0)));
}

TEST_P(Layers, DropoutOfChannelsTakesThemWhole) {
  const Array seed = Array::scalar<std::int64_t>(1), step = Array::scalar<std::int64_t>(0);
  const auto out = testing::evaluate(GetParam(), {{filled({50, 4, 3, 2}, 1), true}, {seed}, {step}},
                                     [&](const std::vector<Tensor>& in) {
                                       Context context(true, in[1], in[2]);
                                       return std::vector<Tensor>{Dropout2d(0.25)(in[0])};
                                     });
  std::int64_t kept = 0;
  for (std::int64_t channel = 0; channel < 200; ++channel) {
    const double first = out[0].at(6 * channel);
    EXPECT_TRUE(first == 0 || std::abs(first - 4.0 / 3) < 1e-6) << first;
    for (int i = 1; i < 6; ++i) EXPECT_EQ(out[0].at(6 * channel + i), first);
    kept += first != 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(kept) / 200, 0.75, 0.1);
}

TEST_P(Layers, RReluDrawsASlopeForEachElement) {
  const Array seed = Array::scalar<std::int64_t>(1), step = Array::scalar<std::int64_t>(0);
  const auto out = testing::evaluate(GetParam(), {{filled({400, 5}, -1), true}, {seed}, {step}},
                                     [&](const std::vector<Tensor>& in) {
                                       Context context(true, in[1], in[2]);
                                       const Tensor y = RReLU(0.1, 0.3)(in[0]);
                                       return std::vector<Tensor>{y, gradients(sum(y), {in[0]})[0]};
                                     });
  double sum = 0;
  std::set<double> different;
  for (std::int64_t i = 0; i < 2000; ++i) {
    EXPECT_TRUE(out[0].at(i) <= -0.1 + 1e-7 && out[0].at(i) >= -0.3 - 1e-7);
    EXPECT_EQ(out[1].at(i), -out[0].at(i));
    sum += out[0].at(i);
    different.insert(out[0].at(i));
  }
  EXPECT_NEAR(sum / 2000, -0.2, 0.005);
  EXPECT_GT(different.size(), 1990u);
}

TEST_P(Layers, GumbelSoftmaxChoosesAsOftenAsSoftmaxSays) {
  Array logits(DType::f32, {3000, 3});
  for (std::int64_t i = 0; i < 3000; ++i)
    logits.set(3 * i + 1, std::log(2.0)), logits.set(3 * i + 2, std::log(5.0));
  const Array seed = Array::scalar<std::int64_t>(1), step = Array::scalar<std::int64_t>(0);
  const auto out =
      testing::evaluate(GetParam(), {{logits, true}, {seed}, {step}}, [&](const std::vector<Tensor>& in) {
        Context context(true, in[1], in[2]);
        return std::vector<Tensor>{GumbelSoftmax({.tau = 0.5, .hard = true})(in[0])};
      });
  double chosen[3] = {};
  for (std::int64_t i = 0; i < 9000; ++i) {
    EXPECT_LT(std::min(std::abs(out[0].at(i)), std::abs(out[0].at(i) - 1)), 1e-6);
    chosen[i % 3] += out[0].at(i) / 3000;
  }
  for (const auto& [i, p] : {std::pair(0, 0.125), {1, 0.25}, {2, 0.625}}) EXPECT_NEAR(chosen[i], p, 0.03);
}

TEST_P(Layers, EmbeddingBagWeighsItsSamples) {
  EmbeddingBag layer(3, 2, {.mode = Bag::sum, .padding_idx = 0});
  layer.weight.assign(floats({3, 2}, {9, 9, 1, 2, 10, 20}));
  const auto out = testing::evaluate(
      GetParam(), {{whole({2, 2}, {1, 2, 0, 1}), true}, {floats({2, 2}, {1, 0.5f, 7, 3}), true}},
      [&](const std::vector<Tensor>& in) {
        const Tensor y = layer(in[0], in[1]);
        return std::vector<Tensor>{y, gradients(sum(y), {layer.weight.value()})[0]};
      });
  EXPECT_TRUE(identical(out[0], floats({2, 2}, {6, 12, 3, 6})));
  EXPECT_TRUE(identical(out[1], floats({3, 2}, {0, 0, 4, 4, 0.5f, 0.5f})));
  EXPECT_ERROR(EmbeddingBag(3, 2)(Tensor(whole({1, 1}, {0})), Tensor(floats({1, 1}, {1}))), "need mode sum");
}

TEST(DropoutInEvaluation, IsTheIdentityItself) {
  const Tensor x(filled({2, 3}, 1));
  EXPECT_EQ(Dropout(0.5)(x).id(), x.id());
  Context context(false);
  EXPECT_EQ(Dropout(0.5)(x).id(), x.id());
}

TEST_P(Layers, EmbeddingKeepsThePaddingRow) {
  Embedding layer(3, 2, {.padding_idx = 0});
  layer.weight.assign(floats({3, 2}, {.5f, .5f, 1, 1, 2, 2}));
  const auto out =
      testing::evaluate(GetParam(), {{whole({3}, {0, 1, 1}), true}}, [&](const std::vector<Tensor>& in) {
        const Tensor y = layer(in[0]);
        return std::vector<Tensor>{y, gradients(sum(y), {layer.weight.value()})[0]};
      });
  EXPECT_TRUE(identical(out[0], floats({3, 2}, {.5f, .5f, 1, 1, 1, 1})));
  EXPECT_TRUE(identical(out[1], floats({3, 2}, {0, 0, 2, 2, 0, 0})));
}

TEST_P(Layers, EmbeddingReportsIdsOutside) {
  Embedding layer(3, 2);
  layer.initialize(1);
  const auto out = testing::evaluate(
      GetParam(), {{whole({2, 2}, {0, 1, 2, 3}), true}, {whole({2, 2}, {0, 1, 2, 2}), true}},
      [&](const std::vector<Tensor>& in) {
        Context context(true);
        layer(in[0]);
        layer(in[1]);
        return std::vector<Tensor>{context.checks[0].row, context.checks[0].value, context.checks[1].row};
      });
  EXPECT_EQ(out[0].int_at(0), 1);
  EXPECT_EQ(out[1].at(0), 3);
  EXPECT_EQ(out[2].int_at(0), -1);
  EXPECT_ERROR(layer(Tensor(whole({2}, {0, -1}))), "embedding: id -1 in row 1 must be 0..2 (3 rows)");
}

TEST_P(Layers, GeluAtKnownPoints) {
  const auto out =
      testing::evaluate(GetParam(), {{floats({2}, {-1, -3})}}, [](const std::vector<Tensor>& in) {
        const Tensor exact = GELU()(in[0]);
        return std::vector<Tensor>{exact, GELU(Gelu::tanh)(in[0]), gradients(sum(exact), {in[0]})[0]};
      });
  EXPECT_NEAR(out[0].at(0), -0.1586553, 3e-7);
  EXPECT_NEAR(out[0].at(1), -0.0040497, 1e-7);
  EXPECT_NEAR(out[1].at(0), -0.1588080, 3e-7);
  EXPECT_NEAR(out[1].at(1), -0.0036374, 1e-7);
  EXPECT_NEAR(out[2].at(0), -0.0833155, 3e-7);
}

INSTANTIATE_TEST_SUITE_P(Backends, Layers, ::testing::ValuesIn(testing::backends()), testing::backend_name);

TEST(LayerErrors, NameTheRuleAndWhatCame) {
  const TensorType x{DType::f32, Shape{Dim::batch(), 4}};
  EXPECT_ERROR(make_layer("linaer", {}, x), "did you mean 'linear'?");
  EXPECT_ERROR(make_layer("linear", {}, x), "linear: 'out_features' is missing");
  EXPECT_ERROR(make_layer("linear", {{"out_features", std::int64_t{0}}}, x), "must be 1 or greater, got 0");
  EXPECT_ERROR(make_layer("linear", {{"out_features", 1.5}}, x), "must be a whole number, not 1.5");
  EXPECT_ERROR(make_layer("dropout", {{"p", 1.5}}, x), "dropout: p must be 0..1, got 1.5");
  EXPECT_ERROR(make_layer("gelu", {{"approximate", "fast"}}, x), "must be 'none' or 'tanh', not 'fast'");
  EXPECT_ERROR(Embedding(3, 2, {.padding_idx = 3}), "padding_idx must be a row of 3, got 3");
  EXPECT_ERROR(Dropout1d(2), "dropout1d: p must be 0..1, got 2");
  EXPECT_ERROR(Dropout2d()(Tensor(Array(DType::f32, {2, 3, 4}))),
               "[batch, channels, height, width], got f32[2, 3, 4]");
  EXPECT_ERROR(PixelShuffle(2)(Tensor(Array(DType::f32, {1, 6, 2, 2}))),
               "the channels of f32[1, 6, 2, 2] must be a multiple of 4");
  EXPECT_ERROR(PixelUnshuffle(2)(Tensor(Array(DType::f32, {1, 6, 2, 3}))),
               "the width of f32[1, 6, 2, 3] must be a multiple of 2");
  EXPECT_ERROR(Upsample({}), "give either size or scale_factor");
  EXPECT_ERROR(Upsample({.size = {0}}), "size must be above 0, got 0");
  EXPECT_ERROR(Upsample({.size = {3}, .align_corners = true}),
               "align_corners goes with mode linear or bilinear");
  EXPECT_ERROR(Upsample({.size = {3, 4}})(Tensor(Array(DType::f32, {1, 2, 3}))),
               "got f32[1, 2, 3] and 2 of them");
  EXPECT_ERROR(Softshrink(-1), "lambda must be 0 or more");
  EXPECT_ERROR(GLU()(Tensor(Array(DType::f32, {2, 3}))), "must have an even length, x is f32[2, 3]");
  PReLU bend(2);
  bend.initialize(1);
  EXPECT_ERROR(bend(Tensor(Array(DType::f32, {2, 3}))),
               "prelu: the slope must be [1], or [C] for x [B, C, ...]");
  EXPECT_ERROR(EmbeddingBag(3, 2)(Tensor(whole({2}, {0, 1}))),
               "ids must be [batch, length of a bag], got i64[2]");
  EXPECT_ERROR(
      make_layer("embedding_bag",
                 {{"num_embeddings", std::int64_t{3}}, {"embedding_dim", std::int64_t{2}}, {"mode", "min"}},
                 x),
      "mode must be 'sum', 'mean' or 'max', not 'min'");
  Linear layer(3, 2);
  layer.initialize(1);
  EXPECT_ERROR(layer(Tensor(Array(DType::f32, {5, 4}))),
               "linear: x must be floating [..., 3], got f32[5, 4]");
  EXPECT_ERROR(layer(Tensor(Array(DType::i64, {5, 3}))), "got i64[5, 3]");
  Embedding table(3, 2);
  table.initialize(1);
  EXPECT_ERROR(table(Tensor(Array(DType::f32, {5}))), "ids must be integers");
}

TEST(DropoutInTraining, NeedsASeed) {
  Context context(true);
  EXPECT_ERROR(Dropout(0.5)(Tensor(Array(DType::f32, {2}))), "make nn::Context with a seed and a step");
}

}  // namespace
}  // namespace tightloop::nn
