// SPDX-License-Identifier: Apache-2.0
// First and second derivatives of every differentiable op against central differences, all in f64.
#include <tightloop/passes/differentiate.h>

#include <tests/ops/sample_graph.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace tightloop {
namespace {

using testing::make;
using testing::SampleGraph;

bool is_real(const TensorType& t) { return is_compute_float(t.dtype); }

/// y · w summed, w fixed numbers of both signs: a scalar that sees every element of y.
Tensor weighted(SampleGraph& s, const std::vector<Tensor>& parts) {
  Tensor total = scalar(0, DType::f64);
  for (const Tensor& t : parts) {
    const TensorType type = t.type();
    s.inputs.push_back(input("w" + std::to_string(s.inputs.size()), "argument", type));
    s.values.push_back(testing::draw(type, -1, 1, 77 + s.inputs.size()));
    total = total + sum(t * s.inputs.back());
  }
  return total;
}

/// At most `limit` elements of each input are moved.
void check(const SampleGraph& s, const Tensor& loss, const std::vector<Tensor>& wrt, std::int64_t limit,
           double tolerance) {
  const auto slopes = testing::run(s, gradients(loss, wrt));
  for (std::size_t k = 0; k < wrt.size(); ++k) {
    std::size_t place = 0;
    while (s.inputs[place].id() != wrt[k].id()) ++place;
    const std::int64_t n = s.values[place].count();
    for (std::int64_t e = 0; e < n; e += std::max<std::int64_t>(1, n / limit)) {
      SampleGraph moved = s;
      const double x = s.values[place].at(e), h = 1e-5;
      const auto value_at = [&](double to) {
        moved.values[place] = s.values[place].clone();
        moved.values[place].set(e, to);
        return testing::run(moved, {loss})[0].at(0);
      };
      const double slope = (value_at(x + h) - value_at(x - h)) / (2 * h);
      const double got = slopes[k].at(e);
      ASSERT_NEAR(got, slope, tolerance * std::max(1.0, std::fabs(slope)))
          << s.y.node().op->name << " " << to_string(s.y.type()) << ", input " << place << " element " << e;
    }
  }
}

/// The same sample with f64 in place of f32.
ir::Sample in_f64(ir::Sample sample) {
  for (auto* types : {&sample.inputs, &sample.declared})
    for (TensorType& t : *types)
      if (t.dtype == DType::f32) t.dtype = DType::f64;
  return sample;
}

class Gradient : public ::testing::TestWithParam<const ir::OpDef*> {};

TEST_P(Gradient, AgreesWithDifferencesOnceAndTwice) {
  const ir::OpDef& op = *GetParam();
  int checked = 0;
  for (const auto& sample : op.samples()) {
    SampleGraph s = make(op, in_f64(sample));
    std::vector<Tensor> wrt;
    for (const Tensor& t : s.inputs)
      if (is_real(t.type())) wrt.push_back(t);
    if (wrt.empty() || !is_real(s.y.type())) continue;
    const Tensor loss = weighted(s, {s.y});
    check(s, loss, wrt, 8, 1e-7);
    const Tensor slopes = weighted(s, gradients(loss, wrt));
    check(s, slopes, wrt, 4, 1e-6);
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

std::vector<const ir::OpDef*> differentiable() {
  std::vector<const ir::OpDef*> found;
  for (const ir::OpDef* op : ops::all_ops())
    if (op->vjp != nullptr) found.push_back(op);
  return found;
}

INSTANTIATE_TEST_SUITE_P(All, Gradient, ::testing::ValuesIn(differentiable()),
                         [](const auto& info) { return std::string(info.param->name); });

/// The gradient of sum(f(x)) at numbers.
template <class F>
std::vector<double> slopes(std::initializer_list<double> x, F f) {
  const Tensor leaf(
      Array::of<double>({static_cast<std::int64_t>(x.size())}, std::span<const double>(x.begin(), x.size())));
  const Array g = testing::value(gradients(sum(f(leaf)), {leaf})[0]);
  return {g.as<double>().begin(), g.as<double>().end()};
}
using Values = std::vector<double>;

TEST(GradientConventions, FollowPyTorchAtKinks) {
  EXPECT_EQ(slopes({-1, 0, 2}, [](Tensor x) { return abs(x); }), (Values{-1, 0, 1}));
  EXPECT_EQ(slopes({-1, 0, 2}, [](Tensor x) { return relu(x); }), (Values{0, 0, 1}));
  EXPECT_EQ(slopes({-1, 0, 2}, [](Tensor x) { return maximum(x, zeros({3}, DType::f64)); }),
            (Values{0, 0.5, 1}));
  EXPECT_EQ(slopes({-1, 0, 2}, [](Tensor x) { return minimum(x, zeros({3}, DType::f64)); }),
            (Values{1, 0.5, 0}));
  EXPECT_EQ(slopes({1, 3, 3}, [](Tensor x) { return amax(x); }), (Values{0, 0.5, 0.5}));
  EXPECT_EQ(slopes({1, 1, 3}, [](Tensor x) { return amin(x); }), (Values{0.5, 0.5, 0}));
  EXPECT_EQ(slopes({-2, -1, 0, 1, 2}, [](Tensor x) { return clamp(x, -1, 1); }), (Values{0, 1, 1, 1, 0}));
  EXPECT_EQ(slopes({-2, -1, 0, 1, 2}, [](Tensor x) { return hardtanh(x); }), (Values{0, 0, 1, 0, 0}));
  EXPECT_EQ(slopes({1.5, -2.5}, [](Tensor x) { return floor(x) + round(x) + sign(x); }), (Values{0, 0}));
  EXPECT_EQ(slopes({1.5, 2}, [](Tensor x) { return x * stop_gradient(x); }), (Values{1.5, 2}));
  EXPECT_EQ(slopes({0}, [](Tensor x) { return elu(x); }), (Values{1}));
}

TEST(GradientConventions, ABranchNotTakenLeaksNoNaN) {
  EXPECT_EQ(slopes({-1, 0, 4}, [](Tensor x) { return select(x > 0, sqrt(x), x); }), (Values{1, 1, 0.25}));
  EXPECT_EQ(slopes({-1, 0, 4}, [](Tensor x) { return select(x > 0, log(x), x); }), (Values{1, 1, 0.25}));
  EXPECT_EQ(slopes({-1, 0, 4}, [](Tensor x) { return select(x > 0, rsqrt(x), x); }), (Values{1, 1, -0.0625}));
  EXPECT_EQ(slopes({1000, -1000}, [](Tensor x) { return elu(x); }), (Values{1, 0}));
  EXPECT_EQ(slopes({1000, -1000}, [](Tensor x) { return softplus(x); }), (Values{1, 0}));
  EXPECT_EQ(slopes({0, 2}, [](Tensor x) { return pow(x, scalar(4, DType::f64)); }), (Values{0, 32}));
  EXPECT_EQ(slopes({0, 2}, [](Tensor x) { return pow(scalar(0, DType::f64), x); })[1], 0);
}

TEST(GradientConventions, ScatterAddDropsWhatLiesOutside) {
  const Tensor updates(Array::of<double>({3}, {1, 2, 4}));
  const Tensor index(Array::of<std::int64_t>({3}, {1, -1, 5}));
  const Tensor y = scatter_add(index, updates, 5);
  EXPECT_EQ(testing::value(y).at(1), 1);
  const Array g = testing::value(gradients(sum(y), {updates})[0]);
  EXPECT_EQ(g.at(0), 1);
  EXPECT_EQ(g.at(1), 0);
  EXPECT_EQ(g.at(2), 0);
}

}  // namespace
}  // namespace tightloop
