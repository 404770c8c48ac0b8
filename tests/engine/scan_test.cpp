// SPDX-License-Identifier: Apache-2.0
// scan against a loop written out, its gradients against differences in f64, and what it refuses.
#include <tests/support/compare.h>
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/engine/functional.h>
#include <tightloop/engine/scan.h>

namespace tightloop {
namespace {

using testing::expect_close;
using testing::random_array;

/// A leaky sum of inputs: s' = a·s + x, y = tanh(s').
struct Leaky {
  Tensor a;
  std::pair<Tensor, Tensor> operator()(const Tensor& s, const Tensor& x) const {
    const Tensor next = a * s + x;
    return {next, tanh(next)};
  }
};

Array numbers(std::vector<std::int64_t> dims, std::uint64_t seed) {
  return random_array(DType::f64, dims, -1, 1, seed);
}

class ScanTest : public ::testing::TestWithParam<CompileOptions> {};
INSTANTIATE_TEST_SUITE_P(Backends, ScanTest, ::testing::ValuesIn(testing::backends()), testing::backend_name);

TEST_P(ScanTest, IsALoop) {
  const Array a = numbers({3}, 1), s0 = numbers({3}, 2), x = numbers({5, 3}, 3);
  for (const bool reverse : {false, true}) {
    auto f = compile([&](const Tensor& factor, const Tensor& start,
                         const Tensor& xs) { return scan(Leaky{factor}, start, xs, {.reverse = reverse}); },
                     {.compile = GetParam()});
    const auto [last, ys] = f(a, s0, x);
    std::vector<double> s{s0.at(0), s0.at(1), s0.at(2)};
    Array wanted(DType::f64, {5, 3});
    for (std::int64_t i = 0; i < 5; ++i)
      for (std::int64_t k = 0; k < 3; ++k) {
        const std::int64_t t = reverse ? 4 - i : i;
        auto& value = s[static_cast<std::size_t>(k)];
        value = a.at(k) * value + x.at(t * 3 + k);
        wanted.set(t * 3 + k, std::tanh(value));
      }
    expect_close(ys.array(), wanted, 1e-12);
    expect_close(last.array(), Array::of<double>({3}, s), 1e-12);
  }
}

TEST_P(ScanTest, GradientsAgreeWithDifferences) {
  const Array a = numbers({2}, 4), s0 = numbers({2}, 5), x = numbers({7, 2}, 6);
  auto loss = [](const Tensor& factor, const Tensor& start, const Tensor& xs) {
    const auto [last, ys] = scan(Leaky{factor}, start, xs);
    return sum(square(last)) + sum(ys * ys * ys);
  };
  auto value = compile(loss, {.compile = GetParam()});
  auto slopes = compile(grad<0, 1, 2>(loss), {.compile = GetParam()});
  const auto [by_a, by_s, by_x] = slopes(a, s0, x);
  const double h = 1e-6;
  const auto difference = [&](const Array& at, std::int64_t i, const auto& of) {
    Array up = at.clone(), down = at.clone();
    up.set(i, at.at(i) + h);
    down.set(i, at.at(i) - h);
    return (of(up).item() - of(down).item()) / (2 * h);
  };
  for (std::int64_t i = 0; i < a.count(); ++i) {
    EXPECT_NEAR(by_a.array().at(i), difference(a, i, [&](const Array& v) { return value(v, s0, x); }), 1e-7);
    EXPECT_NEAR(by_s.array().at(i), difference(s0, i, [&](const Array& v) { return value(a, v, x); }), 1e-7);
  }
  for (std::int64_t i = 0; i < x.count(); ++i)
    EXPECT_NEAR(by_x.array().at(i), difference(x, i, [&](const Array& v) { return value(a, s0, v); }), 1e-7);
}

TEST_P(ScanTest, TakesStructuresANumberOfStepsAndAnAxis) {
  // Fibonacci: the carry is a pair, nothing is read.
  auto fibonacci = compile(
      [](const Tensor& first) {
        return scan(
            [](const std::pair<Tensor, Tensor>& s) {
              return std::make_pair(std::make_pair(s.second, s.first + s.second), s.first);
            },
            std::make_pair(first, first), 10);
      },
      {.compile = GetParam()});
  EXPECT_EQ(fibonacci(Array::scalar(1.0f)).second.array().at(9), 55);

  // Two inputs at once, steps along axis 1, no result but the carry.
  const Array x = numbers({2, 4}, 7), y = numbers({2, 4}, 8);
  auto dot = compile(
      [](const Tensor& a, const Tensor& b) {
        return scan(
                   [](const Tensor& s, const std::pair<Tensor, Tensor>& at) {
                     return std::make_pair(s + at.first * at.second, std::tuple<>());
                   },
                   zeros({2}, DType::f64), std::make_pair(a, b), {.axis = 1})
            .first;
      },
      {.compile = GetParam()});
  const Tensor wanted = sum(Tensor(x) * Tensor(y), {1});
  expect_close(dot(x, y).array(), wanted.array(), 1e-12);
}

TEST(Scan, WorksAsItIsAndUnderVmap) {
  const Tensor x = numbers({3, 4}, 9);
  auto total = [](const Tensor& row) {
    return scan([](const Tensor& s, const Tensor& at) { return std::make_pair(s + at, s); },
                zeros({}, DType::f64), row)
        .first;
  };
  expect_close(vmap(total)(x).array(), sum(x, {1}).array(), 1e-12);
}

TEST(Scan, RefusesWhatDoesNotFit) {
  auto keep = [](const Tensor& s, const Tensor& x) { return std::make_pair(s, x); };
  const Tensor s = zeros({2});
  EXPECT_ERROR(scan(keep, s, s, {.axis = 1}), "axis 1 is not one of f32[2]");
  EXPECT_ERROR(scan(keep, s, zeros({0, 2})), "must be known and at least 1, f32[0, 2] came");
  EXPECT_ERROR(scan(keep, s, zeros({Dim::batch(), 2})), "must be known and at least 1, f32[B, 2] came");
  auto pairs = [](const Tensor& c, const std::pair<Tensor, Tensor>&) { return std::make_pair(c, c); };
  EXPECT_ERROR(scan(pairs, s, std::make_pair(zeros({3}), zeros({4}))), "f32[3] and f32[4] came");
  auto widen = [](const Tensor& c, const Tensor&) { return std::make_pair(cast(c, DType::f64), c); };
  EXPECT_ERROR(scan(widen, s, s), "step 0 turned f32[2] into f64[2]");
  auto longer = [](const std::vector<Tensor>& c) {
    std::vector<Tensor> next = c;
    next.push_back(c[0]);
    return std::make_pair(next, c[0]);
  };
  EXPECT_ERROR(scan(longer, std::vector<Tensor>{s}, 3), "the carry had 1 tensors, step 0 returned 2");
  auto count = [](const Tensor& c) { return std::make_pair(c, c); };
  EXPECT_ERROR(scan(count, s, 0), "at least one step, not 0");
}

}  // namespace
}  // namespace tightloop
