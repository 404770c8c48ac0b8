// SPDX-License-Identifier: Apache-2.0
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/gradient_rules.h>

namespace tightloop::optim {
namespace {

class GradientRulesOf : public ::testing::TestWithParam<CompileOptions> {
 protected:
  Array run(const GradientRules& rules, const Array& gradient, std::int64_t step = 0) {
    return testing::evaluate(GetParam(), {{gradient}}, [&](const std::vector<Tensor>& g) {
      return apply(rules, g, scalar(7, DType::i64), scalar(static_cast<double>(step), DType::i64));
    })[0];
  }
  static double variance(const Array& a) {
    double sum = 0, squares = 0;
    for (std::int64_t i = 0; i < a.count(); ++i) sum += a.at(i), squares += a.at(i) * a.at(i);
    const auto n = static_cast<double>(a.count());
    return squares / n - sum / n * sum / n;
  }
};

TEST_P(GradientRulesOf, NoiseHasItsVarianceWhichFallsWithTheSteps) {
  const Array zeros(DType::f32, {20000});
  const Array first = run({.noise = 0.04}, zeros);
  EXPECT_NEAR(variance(first), 0.04, 0.002);
  EXPECT_NEAR(variance(run({.noise = 0.04}, zeros, 99)), 0.04 / std::pow(100, 0.55), 0.0002);
  EXPECT_TRUE(identical(first, run({.noise = 0.04}, zeros)));
}

TEST_P(GradientRulesOf, CentralizationTakesTheMeanOfEachOutputAway) {
  const Array g = Array::of<float>({2, 3}, {1, 2, 6, -1, 0, 1});
  testing::expect_close(run({.centralize = true}, g), Array::of<float>({2, 3}, {-2, -1, 3, -1, 0, 1}), 1e-6);
  const Array bias = Array::of<float>({3}, {1, 2, 6});
  EXPECT_TRUE(identical(run({.centralize = true}, bias), bias));
}

TEST_P(GradientRulesOf, ValuesAreHeldBeforeTheNorm) {
  const Array g = Array::of<float>({2}, {30, -40});
  testing::expect_close(run({.clip_value = 3, .clip_norm = 1}, g),
                        Array::of<float>({2}, {0.70710678f, -0.70710678f}), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Backends, GradientRulesOf, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace tightloop::optim
