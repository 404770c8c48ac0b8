// SPDX-License-Identifier: Apache-2.0
// L-BFGS against PyTorch: twenty steps on Rosenbrock's function and on a small net, with and without line
// search; and what it does when things go wrong.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tightloop/optim/lbfgs.h>
#include <tightloop/optim/line_search.h>
#include <tightloop/optim/minimize.h>

namespace tightloop::optim {
namespace {

using testing::Case;

Tensor rosenbrock(const Tensor& x) {
  const std::int64_t n = x.dim(0).factor;
  const Tensor head = slice(x, 0, 0, n - 1), tail = slice(x, 0, 1, n);
  return sum(100.0 * square(tail - square(head)) + square(1.0 - head));
}

Tensor loss_of(const Case& c, const std::vector<Variable>& p) {
  if (c.name == "rosenbrock") return rosenbrock(p[0].value());
  const Tensor x = c.at("x"), y = c.at("y");
  const Tensor h = tanh(matmul_transposed(x, p[0].value()) + p[1].value());
  return mean(square(matmul_transposed(h, p[2].value()) + p[3].value() - y));
}

std::vector<Variable> start_of(const Case& c) {
  std::vector<Variable> out;
  for (int i = 0; c.find("start" + std::to_string(i)) != nullptr; ++i)
    out.emplace_back(c.at("start" + std::to_string(i)).clone(), "p" + std::to_string(i));
  return out;
}

LbfgsOptions options_of(const Case& c) {
  const auto rule = make_optimizer("lbfgs", c.options);
  return dynamic_cast<const Lbfgs&>(*rule).options();
}

class LbfgsPaths : public ::testing::TestWithParam<CompileOptions> {};
INSTANTIATE_TEST_SUITE_P(Backends, LbfgsPaths, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST_P(LbfgsPaths, AgreeWithPyTorch) {
  for (const Case& c : testing::read_cases("lbfgs")) {
    SCOPED_TRACE(c.text + " " + c.at("start0").type_string());
    const std::vector<Variable> p = start_of(c);
    Minimizer search([&] { return loss_of(c, p); }, p, options_of(c), GetParam());
    const Array& path = c.at("path");
    const bool wide = path.dtype() == DType::f64;
    std::int64_t iterations = 0;
    for (std::int64_t step = 0; step < path.dims()[0]; ++step) {
      iterations += search.step().iterations;
      if (!wide && iterations > 16) break;  // rounding grows with every iteration
      std::int64_t at = step * path.dims()[1];
      double largest = 0;
      for (std::int64_t i = 0; i < path.dims()[1]; ++i)
        largest = std::max(largest, std::abs(path.at(at + i)));
      for (const Variable& v : p)
        for (std::int64_t i = 0; i < v.array().count(); ++i, ++at)
          ASSERT_NEAR(v.array().at(i), path.at(at), (wide ? 1e-7 : 1e-3) * largest) << "step " << step;
    }
  }
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrocksFunction) {
  const Variable x(Array::of<double>({2}, {-1.2, 1}), "x");
  const Minimum m =
      minimize([&] { return rosenbrock(x.value()); }, {x},
               {.max_iter = 200, .tolerance_change = 1e-16, .line_search = LineSearch::strong_wolfe});
  EXPECT_TRUE(m.converged);
  EXPECT_LT(m.iterations, 60);
  EXPECT_LT(m.loss, 1e-15);
  EXPECT_NEAR(x.array().at(0), 1, 1e-7);
  EXPECT_NEAR(x.array().at(1), 1, 1e-7);
}

TEST(Lbfgs, SolvesAQuadraticInAsManyStepsAsDims) {
  const Variable x(Array(DType::f64, {4}), "x");
  const Tensor scale = Array::of<double>({4}, {1, 10, 100, 1000});
  const Minimum m =
      minimize([&] { return sum(scale * square(x.value() - 3.0)); }, {x},
               {.max_iter = 60, .tolerance_change = 0, .line_search = LineSearch::strong_wolfe});
  EXPECT_TRUE(m.converged);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(x.array().at(i), 3, 1e-6);
}

TEST(Lbfgs, AStepFromTheMinimumChangesNothing) {
  const Variable x(Array::scalar(2.0), "x");
  Minimizer search([&] { return square(x.value() - 2.0); }, {x});
  const Minimum m = search.step();
  EXPECT_TRUE(m.converged);
  EXPECT_EQ(m.iterations, 0);
  EXPECT_EQ(m.evaluations, 1);
  EXPECT_EQ(x.array().at(0), 2);
}

TEST(Lbfgs, KeepsTheLastGoodPoint) {
  const Variable x(Array::scalar(1.0), "x");
  Minimizer far([&] { return -log(x.value()) + x.value() * 1e3; }, {x}, {.lr = 1e3});
  EXPECT_ERROR(far.step(), "the loss is not finite after a step of length");
  EXPECT_EQ(x.array().at(0), 1);
  const Minimum m = minimize([&] { return -log(x.value()) + x.value() * 1e3; }, {x},
                             {.lr = 1e3, .max_iter = 100, .line_search = LineSearch::strong_wolfe});
  EXPECT_NEAR(x.array().at(0), 1e-3, 1e-6) << "a line search comes back from where the loss is no number";
  EXPECT_TRUE(m.converged);
  const Variable bad(Array::scalar(-1.0), "bad");
  EXPECT_ERROR(minimize([&] { return log(bad.value()); }, {bad}), "not finite at the start");
}

TEST(Lbfgs, RefusesWhatItCannotDo) {
  EXPECT_ERROR(make_optimizer("lbfgs", {{"max_iter", std::int64_t{0}}}), "invalid max_iter 0");
  EXPECT_ERROR(make_optimizer("lbfgs", {{"line_search_fn", "strong_wolf"}}), "did you mean 'strong_wolfe'?");
  EXPECT_ERROR(make_optimizer("lbfgs", {{"weight_decay", 0.1}}), "unknown option 'weight_decay'");
  EXPECT_ERROR(Lbfgs().update({}, {}, {}, {}, 0), "use a Trainer or optim::minimize");
}

TEST(LineSearch, MeetsTheStrongWolfeConditions) {
  for (const double first : {1e-3, 0.1, 1.0, 3.0})
    for (const double shape : {0.1, 1.0, 5.0}) {
      const auto line = [&](double t) {  // Moré & Thuente, 1994: (5.1)-like, one minimum
        return Trial{t, -t / (t * t + shape), (t * t - shape) / ((t * t + shape) * (t * t + shape)), {}};
      };
      const Trial start = line(0);
      const auto [best, evaluations] = strong_wolfe(line, start, first, 1, 1e-9);
      EXPECT_LE(best.value, start.value + 1e-4 * best.t * start.slope) << first << " " << shape;
      EXPECT_LE(std::abs(best.slope), 0.9 * std::abs(start.slope)) << first << " " << shape;
      EXPECT_LE(evaluations, 26);
      EXPECT_LT(strong_wolfe(line, start, 1e3, 1, 1e-9).best.value, start.value) << "too far at first";
      EXPECT_LE(strong_wolfe(line, start, first, 1, 1e-9, 2).evaluations, 3);
    }
}

}  // namespace
}  // namespace tightloop::optim
