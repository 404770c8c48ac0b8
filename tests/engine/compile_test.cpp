// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/engine/compile.h>
#include <tightloop/ops/functions.h>

namespace tightloop {
namespace {

class CompileTest : public ::testing::TestWithParam<CompileOptions> {
 protected:
  FunctionOptions options(bool batch = false) const { return {.batch = batch, .compile = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Backends, CompileTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

Tensor vector(std::initializer_list<float> values) {
  return Array::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

TEST_P(CompileTest, TracesOncePerSignature) {
  int traces = 0;
  auto f = compile([&](Tensor x, Tensor y) { return ++traces, x * y + 1.0; }, options());
  EXPECT_EQ(f(vector({1, 2}), vector({3, 4})).array().at(1), 9);
  EXPECT_EQ(f(vector({5, 6}), vector({1, 1})).array().at(0), 6);
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(f(vector({1, 2, 3}), vector({1, 1, 1})).array().at(2), 4);
  EXPECT_EQ(traces, 2);
}

TEST_P(CompileTest, TheBatchOptionKeepsOneTrace) {
  int traces = 0;
  auto f = compile([&](Tensor x) { return ++traces, sum(x, {1}); }, options(true));
  EXPECT_EQ(f(Array::of<float>({2, 2}, {1, 2, 3, 4})).array().at(1), 7);
  EXPECT_EQ(f(Array::of<float>({1, 2}, {5, 6})).array().dims(), std::vector<std::int64_t>{1});
  EXPECT_EQ(traces, 1);
  auto g = compile([](Tensor x, Tensor) { return x; }, options(true));
  EXPECT_ERROR(g(vector({1, 2}), vector({1, 2, 3})), "one leading dim for all arguments");
}

TEST_P(CompileTest, TakesAndGivesStructures) {
  auto f = compile(
      [](const std::vector<Tensor>& xs, Tensor y) {
        return std::make_tuple(xs[0] + y, std::vector<Tensor>{xs[1], xs[1] * 2.0}, std::make_pair(y, y));
      },
      options());
  const auto [a, b, c] = f(std::vector<Tensor>{vector({1}), vector({2})}, vector({10}));
  EXPECT_EQ(a.item(), 11);
  EXPECT_EQ(b.at(1).item(), 4);
  EXPECT_EQ(c.second.item(), 10);
}

TEST_P(CompileTest, UpdatesVariables) {
  const Variable count(Array::scalar(0.0f), "count");
  const Variable unused(Array::scalar(3.0f), "count");
  auto f = compile([&](Tensor x) { count.assign(count.value() + x * unused.value()); }, options());
  f(Array::scalar(2.0f));
  const Array before = count.array();
  f(Array::scalar(1.0f));
  EXPECT_EQ(count.array().at(0), 9);
  EXPECT_EQ(before.at(0), 6) << "an array once read must not change";
  count.set(Array::scalar(-1.0f));
  f(Array::scalar(1.0f));
  EXPECT_EQ(count.value().item(), 2);
}

TEST_P(CompileTest, TwoFunctionsShareAVariable) {
  const Variable w(Array::scalar(1.0f), "w");
  auto twice = compile([&] { w.assign(w.value() * 2.0); }, options());
  auto read = compile([&](Tensor x) { return x + w.value(); }, options());
  for (int i = 0; i < 5; ++i) twice();
  EXPECT_EQ(read(Array::scalar(0.5f)).item(), 32.5);
}

TEST_P(CompileTest, AssignedValuesAreSeenWithinTheTrace) {
  const Variable v(Array::scalar(1.0f), "v");
  auto f = compile(
      [&] {
        v.assign(v.value() + 1.0);
        v.assign(v.value() * 10.0);
        return v.value();
      },
      options());
  EXPECT_EQ(f().item(), 20);
  EXPECT_EQ(f().item(), 210);
  EXPECT_EQ(v.array().at(0), 210);
}

TEST_P(CompileTest, CompiledFunctionsNest) {
  auto square_of = compile([](Tensor x) { return square(x); }, options());
  auto f = compile([&](Tensor x) { return square_of(x) + 1.0; }, options());
  EXPECT_EQ(f(Array::scalar(3.0f)).item(), 10);
  EXPECT_EQ(square_of.programs().size(), 0u);
}

TEST_P(CompileTest, AHandWrittenLoopFits) {
  const Variable w(Array(DType::f32, {2, 1}), "w");
  const Variable b(Array(DType::f32, {1}), "b");
  const std::vector<Variable> parameters{w, b};
  auto loss_and_gradients = value_and_grad(
      [&](Tensor x, Tensor y) { return mean(square(matmul(x, w) + b.value() - y)); }, parameters);
  auto step = compile(
      [&](Tensor x, Tensor y) {
        auto [loss, slopes] = loss_and_gradients(x, y);
        for (std::size_t i = 0; i < slopes.size(); ++i)
          parameters[i].assign(parameters[i].value() - 0.2 * slopes[i]);
        return loss;
      },
      options(true));
  const Tensor x = Array::of<float>({4, 2}, {0, 0, 0, 1, 1, 0, 1, 1});
  const Tensor y = Array::of<float>({4, 1}, {3, 1, 4, 2});
  double loss = 0;
  for (int i = 0; i < 300; ++i) loss = step(x, y).item();
  EXPECT_LT(loss, 1e-6);
  EXPECT_NEAR(w.array().at(0), 1, 1e-2);
  EXPECT_NEAR(w.array().at(1), -2, 1e-2);
  EXPECT_NEAR(b.array().at(0), 3, 1e-2);
}

TEST(Grad, OfTheFirstArgumentByDefault) {
  auto f = grad([](Tensor x, Tensor y) { return sum(x * x * y); });
  const Tensor x = vector({1, 2});
  EXPECT_EQ(f(x, x).array().at(1), 8) << "the second argument, though the same tensor, is not differentiated";
}

TEST(Grad, OfChosenArguments) {
  auto f = value_and_grad<1, 0>([](Tensor x, std::vector<Tensor> y) { return sum(x * y[0] + y[1]); });
  const auto [value, slopes] = f(vector({2}), std::vector<Tensor>{vector({3}), vector({5})});
  EXPECT_EQ(value.item(), 11);
  EXPECT_EQ(std::get<0>(slopes)[0].item(), 2);
  EXPECT_EQ(std::get<0>(slopes)[1].item(), 1);
  EXPECT_EQ(std::get<1>(slopes).item(), 3);
}

TEST(Grad, CarriesWhatElseTheFunctionGives) {
  auto f = value_and_grad([](Tensor x) { return std::make_pair(sum(x * x), x + 1.0); });
  const auto [result, slope] = f(vector({4}));
  EXPECT_EQ(result.second.item(), 5);
  EXPECT_EQ(slope.item(), 8);
}

TEST(Grad, OfGrad) {
  auto f = grad(grad([](Tensor x) { return x * x * x; }));
  EXPECT_EQ(f(Tensor(Array::scalar(2.0))).item(), 12);
}

TEST(Grad, OfVariablesOutsideATrace) {
  const Variable w(Array::scalar(3.0f), "w");
  auto f = value_and_grad([&](Tensor x) { return w.value() * w.value() * x; }, std::vector<Variable>{w});
  const auto [value, slopes] = f(Array::scalar(2.0f));
  EXPECT_EQ(value.item(), 18);
  EXPECT_EQ(slopes[0].item(), 12);
  w.assign(w.value() - slopes[0]);
  EXPECT_EQ(w.array().at(0), -9);
}

TEST(Variable, KeepsItsType) {
  const Variable w(Array::scalar(3.0f), "w");
  EXPECT_ERROR(w.set(Array::scalar(3.0)), "variable 'w' is f32[] and cannot become f64[]");
  EXPECT_ERROR(w.assign(vector({1})), "cannot become f32[1]");
  EXPECT_THROW(Variable().value(), InternalError);
}

}  // namespace
}  // namespace tightloop
