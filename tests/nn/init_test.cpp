// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/nn/nn.h>

#include <algorithm>
#include <cmath>

namespace tightloop::nn {
namespace {

struct Moments {
  double mean = 0, deviation = 0, low = 0, high = 0;
};

Moments moments(const Array& a) {
  Moments m{0, 0, a.at(0), a.at(0)};
  for (std::int64_t i = 0; i < a.count(); ++i) {
    m.mean += a.at(i) / static_cast<double>(a.count());
    m.low = std::min(m.low, a.at(i));
    m.high = std::max(m.high, a.at(i));
  }
  for (std::int64_t i = 0; i < a.count(); ++i)
    m.deviation += std::pow(a.at(i) - m.mean, 2) / static_cast<double>(a.count());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

Moments drawn(const Initializer& initializer) {
  Array a(DType::f32, {100, 300});
  initializer(a, {7, 3});
  return moments(a);
}

void expect_uniform(const Moments& m, double bound) {
  EXPECT_NEAR(m.mean, 0, bound * 0.02);
  EXPECT_NEAR(m.deviation, bound / std::sqrt(3.0), bound * 0.02);
  EXPECT_GE(m.low, -bound);
  EXPECT_LE(m.high, bound * (1 + 1e-7));
  EXPECT_GT(m.high, 0.99 * bound);
}

void expect_normal(const Moments& m, double deviation) {
  EXPECT_NEAR(m.mean, 0, deviation * 0.03);
  EXPECT_NEAR(m.deviation, deviation, deviation * 0.03);
  EXPECT_GT(m.high, 3 * deviation);
}

TEST(Init, HasPyTorchsBounds) {
  expect_uniform(drawn(init::uniform(-2, 2)), 2);
  expect_normal(drawn(init::normal(0, 3)), 3);
  expect_uniform(drawn(init::kaiming_uniform()), std::sqrt(6.0 / 300));
  expect_uniform(drawn(init::kaiming_uniform(0, init::Fan::out)), std::sqrt(6.0 / 100));
  expect_normal(drawn(init::kaiming_normal()), std::sqrt(2.0 / 300));
  expect_uniform(drawn(init::xavier_uniform()), std::sqrt(6.0 / 400));
  expect_normal(drawn(init::xavier_normal(2)), 2 * std::sqrt(2.0 / 400));
  EXPECT_EQ(drawn(init::constant(0.25)).low, 0.25);
  EXPECT_EQ(drawn(init::constant(0.25)).high, 0.25);
  EXPECT_EQ(drawn(init::ones()).low, 1);
  EXPECT_EQ(drawn(init::zeros()).high, 0);
}

TEST(Init, FansCountTheReceptiveField) {
  Array a(DType::f64, {8, 16, 5, 5});
  init::kaiming_uniform(std::sqrt(5.0))(a, {});
  expect_uniform(moments(a), 1 / std::sqrt(16 * 25.0));
  Array flat(DType::f32, {8});
  EXPECT_ERROR((init::xavier_normal()(flat, {}), 0), "need a weight [out, in, ...], got f32[8]");
}

TEST(Init, LayersStartAsInPyTorch) {
  Linear linear(300, 100);
  linear.initialize(1);
  expect_uniform(moments(linear.weight.array()), 1 / std::sqrt(300.0));
  EXPECT_LE(std::abs(moments(linear.bias->array()).high), 1 / std::sqrt(300.0));
  Embedding embedding(200, 50, {.padding_idx = -1});
  embedding.initialize(1);
  expect_normal(moments(embedding.weight.array()), 1);
  for (std::int64_t i = 199 * 50; i < 200 * 50; ++i) EXPECT_EQ(embedding.weight.array().at(i), 0);
}

}  // namespace
}  // namespace tightloop::nn
