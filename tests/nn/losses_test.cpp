// SPDX-License-Identifier: Apache-2.0
// Losses at the values that the definitions demand.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/nn/context.h>
#include <tightloop/nn/losses.h>
#include <tightloop/passes/differentiate.h>

#include <cmath>

namespace tightloop::nn {
namespace {

Array floats(std::vector<std::int64_t> dims, std::vector<float> values) {
  return Array::of<float>(std::move(dims), std::span<const float>(values));
}

Array labels(std::vector<std::int64_t> values) {
  return Array::of<std::int64_t>({static_cast<std::int64_t>(values.size())},
                                 std::span<const std::int64_t>(values));
}

/// Value and gradient of loss(x, t).
struct Result {
  double value;
  Array gradient;
};

template <class Loss>
Result run(const CompileOptions& backend, const Array& x, const Array& t, Loss loss) {
  const auto out = testing::evaluate(backend, {{x, true}, {t, true}}, [&](const std::vector<Tensor>& in) {
    const Tensor value = loss(in[0], in[1]);
    return std::vector<Tensor>{value, gradients(value, {in[0]})[0]};
  });
  return {out[0].at(0), out[1]};
}

void expect_near(double got, double wanted) { EXPECT_NEAR(got, wanted, 1e-6 * std::abs(wanted)); }

class Losses : public ::testing::TestWithParam<CompileOptions> {};

TEST_P(Losses, CrossEntropyOfLargeLogits) {
  const auto loss = [](Tensor x, Tensor t) { return cross_entropy(x, t); };
  const Result a = run(GetParam(), floats({1, 3}, {10, 0, -100}), labels({2}), loss);
  expect_near(a.value, 110.0000454);
  testing::expect_close(a.gradient, floats({1, 3}, {0.9999546f, 4.539787e-5f, -1}), 1e-6);
  const Result b = run(GetParam(), floats({1, 2}, {1000, 0}), labels({1}), loss);
  EXPECT_EQ(b.value, 1000);
  testing::expect_close(b.gradient, floats({1, 2}, {1, -1}), 1e-6);
  expect_near(run(GetParam(), floats({1, 2}, {88.8f, -88.8f}), labels({1}), loss).value, 177.6);
}

TEST_P(Losses, AnIgnoredClassIsStillInTheSoftmax) {
  const Result r = run(GetParam(), floats({2, 3}, {1, 1, 1, 1, 1, 1}), labels({1, 2}),
                       [](Tensor x, Tensor t) { return cross_entropy(x, t, {.ignore_index = 0}); });
  expect_near(r.value, std::log(3.0));
}

TEST_P(Losses, ABatchThatIsIgnoredWholeGivesZero) {
  const Result r = run(GetParam(), floats({2, 2}, {1, 2, 3, 4}), labels({1, 1}),
                       [](Tensor x, Tensor t) { return cross_entropy(x, t, {.ignore_index = 1}); });
  EXPECT_EQ(r.value, 0);
  testing::expect_close(r.gradient, floats({2, 2}, {0, 0, 0, 0}), 0);
}

TEST_P(Losses, BceWithLogits) {
  const auto loss = [](Tensor x, Tensor t) { return binary_cross_entropy_with_logits(x, t); };
  const auto at = [&](float x, float t) { return run(GetParam(), floats({1}, {x}), floats({1}, {t}), loss); };
  expect_near(at(-100, 1).value, 100);
  EXPECT_EQ(at(-100, 1).gradient.at(0), -1);
  expect_near(at(8e7f, 0).value, 8e7);
  expect_near(at(0, 0).value, 0.6931472);
  EXPECT_EQ(at(0, 0).gradient.at(0), 0.5);
  EXPECT_EQ(at(0, 1).gradient.at(0), -0.5);
  expect_near(at(16.7f, 0).value, 16.7000001);
  expect_near(at(-50, 0).value, std::exp(-50.0));
  const Result mean = run(GetParam(), floats({8}, {-50, -10, -5, -2, 0, 2, 5, 10}),
                          floats({8}, {1, 1, 1, 1, 1, 1, 1, 1}), loss);
  expect_near(mean.value, 8.4950656);
  expect_near(mean.gradient.at(0), -0.125);
}

TEST_P(Losses, HuberSmoothL1AndKullbackLeibler) {
  const auto at = [&](auto loss) { return run(GetParam(), floats({1}, {2}), floats({1}, {0}), loss).value; };
  EXPECT_EQ(at([](Tensor x, Tensor t) { return huber_loss(x, t, {.delta = 0.5}); }), 0.875);
  EXPECT_EQ(at([](Tensor x, Tensor t) { return smooth_l1_loss(x, t, {.beta = 0.5}); }), 1.75);
  const auto kl = [&](Reduction r) {
    return run(GetParam(), floats({2, 2}, {.9f, .1f, .5f, .5f}), floats({2, 2}, {.5f, .5f, .25f, .75f}),
               [r](Tensor q, Tensor p) { return kl_div(log(q), p, {r}); })
        .value;
  };
  EXPECT_NEAR(kl(Reduction::sum), .6416377, 1e-6);
  EXPECT_NEAR(kl(Reduction::batchmean), .3208188, 1e-6);
  EXPECT_NEAR(kl(Reduction::mean), .1604094, 1e-6);
}

TEST_P(Losses, SaturatedProbabilitiesStayFinite) {
  const auto loss = [](Tensor x, Tensor t) { return binary_cross_entropy(x, t); };
  const Result r = run(GetParam(), floats({4}, {0, 1, 0, 1}), floats({4}, {0, 0, 1, 1}), loss);
  EXPECT_EQ(r.value, 50);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::isfinite(r.gradient.at(i)));
  EXPECT_LT(r.gradient.at(2), 0);
  EXPECT_GT(r.gradient.at(1), 0);
}

TEST_P(Losses, ColumnsAreAlignedAndNothingIsBroadcast) {
  const Array column = floats({3, 1}, {1, 2, 3}), row = floats({3}, {1, 2, 3});
  const auto mse = [](Tensor x, Tensor t) { return mse_loss(x, t); };
  EXPECT_EQ(run(GetParam(), column, row, mse).value, 0);
  EXPECT_EQ(run(GetParam(), row, column, mse).value, 0);
}

TEST_P(Losses, EpochAverageWeighsAShortLastBatch) {
  const auto share = [&](std::int64_t rows, double error) {
    Array x(DType::f32, {rows}), t(DType::f32, {rows});
    for (std::int64_t i = 0; i < rows; ++i) x.set(i, error);
    const auto out =
        testing::evaluate(GetParam(), {{x, true}, {t, true}}, [&](const std::vector<Tensor>& in) {
          const LossValue v = make_loss("l1")(in[0], in[1]);
          return std::vector<Tensor>{v.total, v.weight};
        });
    return std::pair{out[0].at(0), out[1].at(0)};
  };
  double total = 0, weight = 0;
  for (const auto& [rows, error] : {std::pair{256, 0.7}, {256, 0.8}, {10, 0.9}}) {
    const auto [t, w] = share(rows, error);
    total += t, weight += w;
  }
  expect_near(total / weight, 0.7528736);
}

/// Rows 0..n-1 of scores and labels cut into batches: Σ total / Σ weight.
double epoch_average(const CompileOptions& backend, const LossFn& loss, std::int64_t batch, std::int64_t n) {
  double total = 0, weight = 0;
  std::optional<testing::Evaluation> share;
  for (std::int64_t first = 0; first < n; first += batch) {
    const std::int64_t rows = std::min(batch, n - first);
    Array x(DType::f32, {rows, 3}), t(DType::i64, {rows});
    for (std::int64_t i = 0; i < rows; ++i) {
      t.set_int(i, (first + i) * 7 % 3);
      for (std::int64_t c = 0; c < 3; ++c)
        x.set(i * 3 + c, std::sin(static_cast<double>((first + i) * 3 + c)));
    }
    if (!share)
      share.emplace(backend, std::vector<testing::Feed>{{x, true}, {t, true}},
                    [&](const std::vector<Tensor>& in) {
                      const LossValue v = loss(in[0], in[1]);
                      return std::vector<Tensor>{v.total, v.weight};
                    });
    const auto out = (*share)({{x, true}, {t, true}});
    total += out[0].at(0), weight += out[1].at(0);
  }
  return total / weight;
}

TEST_P(Losses, EpochAverageDoesNotDependOnTheBatch) {
  for (const Options& options :
       {Options{}, Options{{"p", std::int64_t{2}}, {"weight", Numbers{0.2, 1, 3}}}}) {
    const LossFn loss = make_loss("multi_margin", options);
    const double whole = epoch_average(GetParam(), loss, 70, 70);
    for (const std::int64_t batch : {1, 7, 64})
      expect_near(epoch_average(GetParam(), loss, batch, 70), whole);
  }
  for (const Options& options :
       {Options{}, Options{{"weight", Numbers{0.2, 1, 3}}}, Options{{"ignore_index", std::int64_t{1}}},
        Options{{"reduction", "sum"}}, Options{{"label_smoothing", 0.1}}}) {
    const LossFn loss = make_loss("cross_entropy", options);
    const double whole = epoch_average(GetParam(), loss, 70, 70);
    for (const std::int64_t batch : {1, 7, 64})
      expect_near(epoch_average(GetParam(), loss, batch, 70), whole);
  }
}

TEST_P(Losses, ChecksFindTheFirstBadLabelOfABatch) {
  std::vector<Check> checks;
  const Array x = floats({4, 3}, std::vector<float>(12, 0.5f));
  const auto out =
      testing::evaluate(GetParam(), {{x, true}, {labels({0, 2, 3, -1}), true}, {labels({0, 1, 2, 0}), true}},
                        [&](const std::vector<Tensor>& in) {
                          Context context(true);
                          cross_entropy(in[0], in[1]);
                          cross_entropy(in[0], in[2]);
                          checks = context.checks;
                          return std::vector<Tensor>{checks[0].row, checks[0].value, checks[1].row};
                        });
  EXPECT_EQ(out[0].int_at(0), 2);
  EXPECT_EQ(out[1].at(0), 3);
  EXPECT_EQ(out[2].int_at(0), -1);
  EXPECT_EQ(checks[0].text(2, 3),
            "cross_entropy: target 3 in row 2 must be 0..2 (3 classes); declare ignore_index if it marks "
            "rows to leave out");
}

TEST_P(Losses, ABadLabelNeverTrainsSilently) {
  const Array x = floats({2, 3}, std::vector<float>(6, 0.5f));
  const Result r = run(GetParam(), x, labels({0, 3}), [](Tensor a, Tensor t) { return cross_entropy(a, t); });
  EXPECT_TRUE(std::isnan(r.value));
  // Nor in a training step of one's own, where nobody looks at the checks.
  const Result own = run(GetParam(), x, labels({0, 3}), [](Tensor a, Tensor t) {
    const Context training(true);
    return cross_entropy(a, t);
  });
  EXPECT_TRUE(std::isnan(own.value));
}

TEST_P(Losses, MarginsAtHand) {
  const auto soft = [](Tensor x, Tensor t) { return soft_margin_loss(x, t); };
  EXPECT_EQ(run(GetParam(), floats({1}, {-1000}), floats({1}, {1}), soft).value, 1000);
  EXPECT_EQ(run(GetParam(), floats({1}, {0}), floats({1}, {-1}), soft).gradient.at(0), 0.5);
  const auto hinge = [](Tensor x, Tensor t) { return hinge_embedding_loss(x, t, {.margin = 2}); };
  const Result h = run(GetParam(), floats({4}, {0.5f, 0.5f, 3, -1}), floats({4}, {1, -1, -1, 1}), hinge);
  EXPECT_EQ(h.value, (0.5 + 1.5 + 0 - 1) / 4);
  testing::expect_close(h.gradient, floats({4}, {.25f, -.25f, 0, .25f}), 0);
  const auto multi = [](Tensor x, Tensor t) { return multi_margin_loss(x, t, {.p = 2}); };
  expect_near(run(GetParam(), floats({1, 3}, {1, 2, 0}), labels({0}), multi).value, 4.0 / 3);
  const auto listed = [](Tensor x, Tensor t) { return multilabel_margin_loss(x, t); };
  expect_near(
      run(GetParam(), floats({1, 4}, {.1f, .2f, .4f, .8f}), floats({1, 4}, {3, 0, -1, 1}), listed).value,
      0.85);
}

TEST_P(Losses, LikelihoodsAtHand) {
  const auto poisson = [](Tensor x, Tensor t) { return poisson_nll_loss(x, t, {.full = true}); };
  const double pi = std::acos(-1.0);
  expect_near(run(GetParam(), floats({2}, {0, 0}), floats({2}, {1, 4}), poisson).value,
              (1 + 1 + 4 * std::log(4.0) - 4 + 0.5 * std::log(8 * pi)) / 2);
  const auto gauss = [](Tensor x, Tensor t) {
    return gaussian_nll_loss(x, t, 4.0 * ones({Dim::batch()}), {.full = true});
  };
  const Result g = run(GetParam(), floats({2}, {1, 3}), floats({2}, {1, 1}), gauss);
  expect_near(g.value, 0.5 * std::log(4.0) + 0.25 + 0.5 * std::log(2 * pi));
  testing::expect_close(g.gradient, floats({2}, {0, .25f}), 1e-6);
}

TEST_P(Losses, AVarianceBelowTheLeastStillLearns) {
  const auto out = testing::evaluate(GetParam(), {{floats({2}, {0, 0.5f}), true}}, [](const auto& in) {
    const Tensor zero = zeros({Dim::batch()});
    const Tensor value = gaussian_nll_loss(zero, zero, in[0], {.eps = 0.25});
    return std::vector<Tensor>{value, gradients(value, {in[0]})[0]};
  });
  testing::expect_close(out[1], floats({2}, {1, .5f}), 1e-6);
}

TEST_P(Losses, AJobsGaussianHoldsMeansAndThenVariances) {
  const LossFn loss = make_loss("gaussian_nll");
  const auto at = [&](std::vector<float> x) {
    return run(GetParam(), floats({1, 4}, std::move(x)), floats({1, 2}, {1, 2}),
               [&](Tensor p, Tensor t) { return loss(p, t).value; });
  };
  EXPECT_EQ(at({1, 2, 1, 1}).value, 0);
  expect_near(at({1, 4, 1, 2}).value, (0.5 * std::log(2.0) + 1) / 2);
}

TEST_P(Losses, NanInATargetIsNeverTakenForZero) {
  const auto kl = [](Tensor x, Tensor t) { return kl_div(x, t); };
  EXPECT_TRUE(std::isnan(run(GetParam(), floats({2}, {-1, -1}), floats({2}, {.5f, NAN}), kl).value));
  EXPECT_TRUE(std::isnan(run(GetParam(), floats({2}, {-1, -1}), floats({2}, {.5f, -.1f}), kl).value));
  const auto hinge = [](Tensor x, Tensor t) { return hinge_embedding_loss(x, t); };
  EXPECT_TRUE(std::isnan(run(GetParam(), floats({2}, {1, 1}), floats({2}, {1, 0}), hinge).value));
}

INSTANTIATE_TEST_SUITE_P(Backends, Losses, ::testing::ValuesIn(testing::backends()), testing::backend_name);

TEST(LossErrors, LabelsOutsideAreRefusedWithRowAndValue) {
  const Tensor x(Array(DType::f32, {5, 5}));
  EXPECT_ERROR(cross_entropy(x, Tensor(labels({1, 2, 3, 4, 5}))),
               "target 5 in row 4 must be 0..4 (5 classes)");
  EXPECT_ERROR(cross_entropy(x, Tensor(labels({1, -1, 3, 4, 0}))), "target -1 in row 1");
  EXPECT_ERROR(nll_loss(x, Tensor(labels({1, -1, 3, 4, 0}))), "nll: target -1 in row 1");
  EXPECT_TRUE(std::isfinite(cross_entropy(x, Tensor(labels({1, -1, 3, 4, 0})), {.ignore_index = -1}).item()));
  EXPECT_ERROR(binary_cross_entropy(Tensor(floats({2}, {0.5f, 1.5f})), Tensor(floats({2}, {0, 1}))),
               "bce: prediction 1.5 in row 1 must be 0..1");
}

TEST(LossErrors, TargetsOutOfRangeAreRefused) {
  const Tensor x(floats({3}, {.5f, .5f, .5f})), zeros_and_ones(floats({3}, {1, 1, 0}));
  for (const float bad : {1.5f, -.5f, NAN})
    EXPECT_ERROR(binary_cross_entropy(x, Tensor(floats({3}, {0, 1, bad}))), "in row 2 must be 0..1");
  EXPECT_ERROR(kl_div(x, Tensor(floats({3}, {0, 1, NAN}))), "kl_div: target nan in row 2");
  EXPECT_ERROR(kl_div(x, Tensor(floats({3}, {0, 1, -.5f}))),
               "kl_div: target -0.5 in row 2 must be 0 or greater");
  EXPECT_TRUE(std::isfinite(kl_div(x, Tensor(floats({3}, {0, -1, -.5f})), {.log_target = true}).item()));
  EXPECT_ERROR(hinge_embedding_loss(x, zeros_and_ones), "hinge_embedding: target 0 in row 2 must be 1 or -1");
  EXPECT_ERROR(soft_margin_loss(x, zeros_and_ones), "soft_margin: target 0 in row 2");
  EXPECT_ERROR(margin_ranking_loss(x, x, zeros_and_ones), "margin_ranking: target 0 in row 2");
  const Tensor pairs(floats({3, 2}, {1, 2, 3, 4, 5, 6}));
  EXPECT_ERROR(cosine_embedding_loss(pairs, pairs, zeros_and_ones), "cosine_embedding: target 0 in row 2");
  EXPECT_ERROR(multi_margin_loss(pairs, Tensor(labels({0, 1, 2}))),
               "multi_margin: target 2 in row 2 must be 0..1");
  EXPECT_ERROR(multilabel_margin_loss(pairs, Tensor(floats({3, 2}, {0, 1, 0, -1, 2, 0}))),
               "multilabel_margin: target 2 in row 2 must be a class 0..1, or -1 after the last");
  EXPECT_ERROR(multilabel_margin_loss(pairs, Tensor(floats({3, 2}, {0, .5f, 0, -1, 1, 0}))),
               "target 0.5 in row 0");
  EXPECT_ERROR(gaussian_nll_loss(x, x, Tensor(floats({3}, {1, 0, -1}))),
               "gaussian_nll: variance -1 in row 2 must be 0 or greater");
}

TEST(LossErrors, TensorsOfOtherShapesAreRefused) {
  const Tensor a(floats({3, 2}, {1, 2, 3, 4, 5, 6})), b(floats({3}, {1, 2, 3})),
      c(floats({2, 2}, {1, 2, 3, 4}));
  EXPECT_ERROR(margin_ranking_loss(a, b, b),
               "margin_ranking: prediction and target must have the same shape");
  EXPECT_ERROR(cosine_embedding_loss(a, c, b), "same shape, got f32[3, 2] and f32[2, 2]");
  EXPECT_ERROR(cosine_embedding_loss(a, a, a),
               "cosine_embedding: prediction and target must have the same shape");
  EXPECT_ERROR(triplet_margin_loss(a, a, c), "same shape");
  EXPECT_ERROR(gaussian_nll_loss(a, a, c), "have one number a row, got f32[3, 2] and f32[2, 2]");
  EXPECT_ERROR(make_loss("gaussian_nll")(b, b), "means and then variances, [B, 2K]");
  EXPECT_ERROR(multi_margin_loss(a, b), "class targets must be integers");
}

TEST(LossErrors, ShapesAndTypesThatDoNotFit) {
  const Tensor a(floats({3, 2}, {1, 2, 3, 4, 5, 6})), b(floats({3}, {1, 2, 3})), c(floats({1, 3}, {1, 2, 3}));
  for (const auto loss : {mse_loss, l1_loss}) {
    EXPECT_ERROR(loss(a, b, {}), "must have the same shape, got f32[3, 2] and f32[3]");
    EXPECT_ERROR(loss(c, b, {}), "must have the same shape");
  }
  EXPECT_ERROR(huber_loss(b, c), "huber: prediction and target must have the same shape");
  EXPECT_ERROR(binary_cross_entropy_with_logits(a, b), "same shape");
  EXPECT_ERROR(mse_loss(Tensor(labels({1})), Tensor(labels({1}))), "must be floating");
  EXPECT_ERROR(cross_entropy(a, b), "class targets must be integers, got f32[3]");
  EXPECT_ERROR(cross_entropy(a, Tensor(labels({0, 1}))), "must be integers [3], got i64[2]");
  EXPECT_ERROR(cross_entropy(Tensor(floats({3, 1}, {1, 2, 3})), Tensor(labels({0, 0, 0}))),
               "use bce_with_logits");
  EXPECT_ERROR(cross_entropy(a, Tensor(labels({0, 1, 1})), {.weight = b}),
               "one number for each of the 2 classes");
}

TEST(LossErrors, OptionsAreChecked) {
  EXPECT_ERROR(make_loss("cross_entrpy"), "did you mean 'cross_entropy'?");
  EXPECT_ERROR(make_loss("huber", {{"delta", -1.0}}), "delta must be greater than 0");
  EXPECT_ERROR(make_loss("smooth_l1", {{"beta", -1.0}}), "beta must be 0 or greater");
  EXPECT_ERROR(make_loss("cross_entropy", {{"label_smoothing", 1.5}}), "label_smoothing must be 0..1");
  EXPECT_ERROR(make_loss("multi_margin", {{"p", std::int64_t{3}}}), "p must be 1 or 2, got 3");
  EXPECT_ERROR(make_loss("gaussian_nll", {{"eps", -1.0}}), "eps must be 0 or greater");
  const Tensor v(floats({1, 1}, {1}));
  EXPECT_ERROR(triplet_margin_loss(v, v, v, {.margin = 0}), "margin must be greater than 0");
  EXPECT_ERROR(triplet_margin_loss(v, v, v, {.p = 0}), "p must be greater than 0");
  EXPECT_ERROR(make_loss("mse", {{"reduction", "median"}}), "must be 'mean' or 'sum', not 'median'");
  EXPECT_ERROR(make_loss("mse", {{"reductoin", "sum"}}), "did you mean 'reduction'?");
  EXPECT_ERROR(mean_loss([](Tensor x, Tensor) { return x; })(Tensor(Array(DType::f32, {2})),
                                                             Tensor(Array(DType::f32, {2}))),
               "use mean()");
}

}  // namespace
}  // namespace tightloop::nn
