// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/losses.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optim.h>
#include <tightloop/optim/sgd.h>
#include <tightloop/train/find_rate.h>

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <random>

namespace tightloop::train {
namespace {

struct Slope : nn::Module {
  Parameter w{{1}};
  void fields(nn::Fields& f) override { f("w", w); }
  Tensor operator()(Tensor x) { return w * x; }
};

constexpr std::int64_t kRows = 10, kBatch = 4;

double x_of(std::int64_t i) { return static_cast<double>(i * 7 % 11) / 5 - 1; }
double y_of(std::int64_t i) { return 3 * x_of(i) + 0.25 * static_cast<double>(i % 3); }

data::Dataset rows() {
  Array x(DType::f32, {kRows, 1}), y(DType::f32, {kRows, 1});
  for (std::int64_t i = 0; i < kRows; ++i) x.set(i, x_of(i)), y.set(i, y_of(i));
  return data::Dataset({{"x", x}, {"y", y}});
}

TrainerOptions options() {
  TrainerOptions o;
  o.batch = kBatch;
  o.shuffle = false;
  o.compile.backend = Backend::reference;
  return o;
}

const nn::LossFn kMse = nn::make_loss("mse");

/// The search written out: w ← w - rate · dL/dw over updates of `accumulate` batches.
std::vector<RatePoint> by_hand(const RateSearch& s, std::int64_t accumulate, double w) {
  std::vector<RatePoint> out;
  double average = 0;
  std::int64_t at = 0;
  for (std::int64_t k = 0; k < s.steps; ++k) {
    const double rate =
        s.low * std::pow(s.high / s.low, static_cast<double>(k) / static_cast<double>(s.steps - 1));
    double loss = 0, gradient = 0, count = 0;
    for (std::int64_t a = 0; a < accumulate; ++a) {
      for (std::int64_t i = at; i < std::min(at + kBatch, kRows); ++i) {
        const double off = w * x_of(i) - y_of(i);
        loss += off * off, gradient += 2 * off * x_of(i), ++count;
      }
      at = at + kBatch >= kRows ? 0 : at + kBatch;
      if (at == 0) break;  // an epoch's end makes an update
    }
    loss /= count;
    average = s.smoothing * average + (1 - s.smoothing) * loss;
    out.push_back({rate, loss, average / (1 - std::pow(s.smoothing, static_cast<double>(k + 1)))});
    w -= rate * gradient / count;
  }
  return out;
}

TEST(FindRate, FollowsTheSearchWrittenOut) {
  for (const std::int64_t accumulate : {1, 2}) {
    SCOPED_TRACE(accumulate);
    Slope net;
    net.w.assign(Array::of<float>({1}, {0.5f}));
    TrainerOptions o = options();
    o.update.accumulate = accumulate;
    const RateSearch search{.low = 1e-4, .high = 0.3, .steps = 40, .smoothing = 0.9, .stop_at = 0};
    const RateResult found = find_rate(net, kMse, optim::Sgd({.lr = 7}), rows(), o, search);
    const auto expected = by_hand(search, accumulate, 0.5);
    ASSERT_EQ(found.points.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found.points[i].rate, expected[i].rate, 1e-9 * expected[i].rate) << i;
      EXPECT_NEAR(found.points[i].loss, expected[i].loss, 1e-4 * (expected[i].loss + 0.01)) << i;
      EXPECT_NEAR(found.points[i].smoothed, expected[i].smoothed, 1e-4 * expected[i].smoothed) << i;
    }
    EXPECT_FALSE(found.stopped);
    EXPECT_EQ(net.w.array().at(0), 0.5) << "the model is as before";
  }
}

TEST(FindRate, EndsWhereTheLossRunsAway) {
  Slope net;
  net.w.assign(Array::of<float>({1}, {0.5f}));
  const RateSearch search{.low = 1e-3, .high = 1e6, .steps = 200, .smoothing = 0.5};
  const RateResult found = find_rate(net, kMse, optim::Sgd({.lr = 0.01}), rows(), options(), search);
  EXPECT_TRUE(found.stopped);
  ASSERT_LT(found.points.size(), 200u);
  double best = found.points.front().smoothed;
  for (std::size_t i = 0; i + 1 < found.points.size(); ++i) {
    EXPECT_TRUE(i == 0 || found.points[i].smoothed <= 4 * best) << i;
    best = std::min(best, found.points[i].smoothed);
  }
  EXPECT_GT(found.points.back().smoothed, 4 * best);
  RateSearch on = search;
  on.stop_at = 0;
  const RateResult lost = find_rate(net, kMse, optim::Sgd({.lr = 0.01}), rows(), options(), on);
  EXPECT_TRUE(lost.stopped) << "the loss is no longer finite";
  EXPECT_GT(lost.points.size(), found.points.size());
  for (const RatePoint& p : lost.points) EXPECT_TRUE(std::isfinite(p.loss));
}

struct Normed : nn::Module {
  nn::Linear lin{1, 4};
  nn::BatchNorm1d norm{4};
  nn::Linear out{4, 1};
  void fields(nn::Fields& f) override { f("lin", lin)("norm", norm)("out", out); }
  Tensor operator()(Tensor x) { return out(norm(lin(x))); }
};

TEST(FindRate, PutsBuffersBackToo) {
  Normed net;
  net.initialize(5);
  std::vector<Array> before;
  for (const auto& s : net.state_dict()) before.push_back(s.array().clone());
  TrainerOptions o = options();
  o.batch = 5;
  find_rate(net, kMse, optim::Sgd({.lr = 0.01}), rows(), o);
  const auto after = net.state_dict();
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    for (std::int64_t e = 0; e < before[i].count(); ++e)
      EXPECT_EQ(after[i].array().at(e), before[i].at(e)) << after[i].path;
}

/// A loss that falls from `high` to `low` about point 60 of 100, then runs away; each differs by noise of the
/// given standard deviation.
std::vector<RatePoint> falling(double high, double low, double noise, std::uint32_t seed) {
  std::vector<RatePoint> out;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 100; ++i) {
    const double trend =
        low + (high - low) / (1 + std::exp((i - 60) / 4.0)) + (i > 90 ? std::exp((i - 90) / 2.0) : 0);
    const double loss = trend + noise * normal(random);
    out.push_back({std::pow(10.0, -8 + 0.08 * i), loss, loss});
  }
  return out;
}

TEST(FindRate, SuggestsTheSteepestDescent) {
  const auto point = [](double rate) { return (std::log10(rate) + 8) / 0.08; };
  EXPECT_NEAR(point(*steepest_rate(falling(10, 1, 0, 1))), 60, 0.5);
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const auto found = steepest_rate(falling(10, 1, 1, seed));
    ASSERT_TRUE(found) << seed;
    EXPECT_NEAR(point(*found), 60, 8) << seed;
  }
  // A spike at the start is no fall.
  auto spiked = falling(10, 1, 0.1, 1);
  spiked[1].loss = 40;
  EXPECT_NEAR(point(*steepest_rate(spiked)), 60, 4);
}

TEST(FindRate, SuggestsNothingWhereOnlyNoiseFalls) {
  int found = 0;
  for (std::uint32_t seed = 1; seed <= 500; ++seed)
    found += steepest_rate(falling(10, 10, 1, seed)).has_value() ? 1 : 0;
  EXPECT_LE(found, 5);
  std::vector<RatePoint> points;
  for (int i = 0; i < 40; ++i) points.push_back({std::pow(10.0, 0.1 * i), 1.0 + i, 1.0 + i});
  EXPECT_FALSE(steepest_rate(points)) << "rises everywhere";
  for (RatePoint& p : points) p.loss = 3;
  EXPECT_FALSE(steepest_rate(points)) << "stays";
  points = falling(10, 1, 0, 1);
  points.resize(19);
  EXPECT_FALSE(steepest_rate(points)) << "too few";
}

TEST(FindRate, WritesWhatItFound) {
  const RateResult r{.points = {{1e-3, 2, 2}, {1e-2, 1, 1.5}, {1e-1, 3, 2.5}}, .suggestion = 1e-2};
  EXPECT_EQ(to_csv(r), "rate,loss,smoothed\n0.001,2,2\n0.01,1,1.5\n0.1,3,2.5\n");
  const std::string svg = to_svg(r);
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_NE(svg.find("1e-2</text>"), std::string::npos);
  EXPECT_NE(svg.find("<circle"), std::string::npos);
  EXPECT_NE(to_svg({}).find("</svg>"), std::string::npos);
  EXPECT_EQ(to_svg({.points = {{1e-3, 2, 2}}}).find("nan"), std::string::npos);
}

TEST(FindRate, RefusesWhatCannotBe) {
  Slope net;
  const auto refusal = [&](const RateSearch& s, const optim::Optimizer& o) -> std::string {
    try {
      find_rate(net, kMse, o, rows(), options(), s);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const optim::Sgd sgd({.lr = 0.01});
  EXPECT_NE(refusal({.low = 1, .high = 0.1}, sgd).find("must rise"), std::string::npos);
  EXPECT_NE(refusal({.low = 0}, sgd).find("must rise"), std::string::npos);
  EXPECT_NE(refusal({.high = INFINITY}, sgd).find("must rise"), std::string::npos);
  EXPECT_NE(refusal({.steps = 1}, sgd).find("2 to 1000000 steps"), std::string::npos);
  EXPECT_NE(refusal({.smoothing = 1}, sgd).find("below 1"), std::string::npos);
  EXPECT_NE(refusal({.stop_at = 0.5}, sgd).find("stop_at"), std::string::npos);
  EXPECT_NE(refusal({}, *optim::make_optimizer("lbfgs")).find("lbfgs"), std::string::npos);
}

}  // namespace
}  // namespace tightloop::train
