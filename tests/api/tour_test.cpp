// SPDX-License-Identifier: Apache-2.0
// A tour of the public interface, with nothing but the umbrella header.
#include <gtest/gtest.h>
#include <tightloop/tightloop.h>

#include <string>
#include <vector>

namespace tl = tightloop;
using tl::Tensor;

namespace {

struct Net : tl::nn::Module {
  tl::nn::Linear lin{3, 1, {.bias = false}};
  tl::Parameter par{{1}};
  void fields(tl::nn::Fields& f) override { f("lin", lin)("par", par); }
  Tensor operator()(const Tensor& x, const Tensor& f) { return lin(x) + par * f; }
};

TEST(Tour, TensorsAreValuesThatRunWhenRead) {
  std::vector<float> mine = {1, 2, 3, 4};
  Tensor x = tl::Array::borrow(tl::DType::f32, {2, 2}, mine.data());
  EXPECT_EQ(x.array().bytes(), reinterpret_cast<const std::byte*>(mine.data()));
  EXPECT_FLOAT_EQ(static_cast<float>(tl::sum(x * 2.0 + 1.0).item()), 24);
  EXPECT_EQ(to_string(tl::matmul(x, x).type()), "f32[2, 2]");
}

TEST(Tour, GradientsOfGradients) {
  auto cube = [](const Tensor& x) { return x * x * x; };
  auto slope = tl::grad(cube);
  auto curvature = tl::grad(slope);
  EXPECT_DOUBLE_EQ(slope(tl::scalar(2)).item(), 12);
  EXPECT_DOUBLE_EQ(curvature(tl::scalar(2)).item(), 12);
}

TEST(Tour, FunctionsOfFunctionsAndLbfgs) {
  auto cube = [](const Tensor& x) { return x * x * x; };
  const Tensor two = tl::scalar(2, tl::DType::f64), one = tl::scalar(1, tl::DType::f64);
  EXPECT_DOUBLE_EQ(tl::sum(tl::vmap(tl::grad(cube))(tl::ones({5}))).item(), 15);
  EXPECT_DOUBLE_EQ(tl::jvp(cube)(two, one).second.item(), 12);
  EXPECT_DOUBLE_EQ(tl::hvp(cube)(two, one).item(), 12);
  const tl::Variable x(tl::Array::scalar(0.0), "x");
  tl::optim::minimize([&] { return tl::square(x.value() - 3.0); }, {x});
  EXPECT_NEAR(x.array().at(0), 3, 1e-6);
}

TEST(Tour, OneTraceServesEveryBatchSize) {
  auto doubled = tl::compile([](const Tensor& x) { return x + x; }, {.batch = true});
  EXPECT_DOUBLE_EQ(tl::sum(doubled(tl::ones({3, 2}).eval())).item(), 12);
  EXPECT_DOUBLE_EQ(tl::sum(doubled(tl::ones({5, 2}).eval())).item(), 20);
  EXPECT_EQ(doubled.programs().size(), 1U);
}

TEST(Tour, ALoopByHandLearnsTheStructuredNetwork) {
  Net net;
  net.initialize(1);
  std::vector<std::string> names;
  for (const auto& p : net.state_dict()) names.push_back(p.path);
  EXPECT_EQ(names, (std::vector<std::string>{"lin.weight", "par"}));

  auto loss_of = [&](const Tensor& x, const Tensor& f, const Tensor& y) {
    return tl::nn::mse_loss(net(x, f), y);
  };
  tl::optim::State adam(tl::optim::Adam({.lr = 0.05}), net.variables());
  auto both = tl::value_and_grad(loss_of, net.variables());
  auto step = tl::compile([&](const Tensor& x, const Tensor& f, const Tensor& y) {
    auto [loss, gradients] = both(x, f, y);
    adam.update(gradients);
    return loss;
  });
  const Tensor x = tl::Array::of<float>({4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1});
  const Tensor f = tl::Array::of<float>({4, 1}, {1, 2, 3, 4});
  const Tensor y = tl::Array::of<float>({4, 1}, {1.5F, 2.25F, 4, 3});
  const double first = step(x, f, y).item();
  double last = first;
  for (int i = 0; i < 300; ++i) last = step(x, f, y).item();
  EXPECT_LT(last, 0.05 * first);
}

TEST(Tour, TheTrainerFitsEvaluatesAndPredicts) {
  tl::Array x(tl::DType::f32, {96, 3});
  tl::Array f(tl::DType::f32, {96, 1});
  tl::Array y(tl::DType::f32, {96, 1});
  for (std::int64_t row = 0; row < 96; ++row) {
    for (std::int64_t column = 0; column < 3; ++column) x.set(row * 3 + column, row % (column + 2));
    f.set(row, row % 7);
    y.set(row, x.at(row * 3) - 2 * x.at(row * 3 + 2) + 0.5 * f.at(row));
  }
  const tl::data::Dataset rows({{"x", x}, {"f", f}, {"y", y}});

  Net net;
  const auto mse = tl::nn::make_loss("mse");
  tl::Trainer trainer({.epochs = 60, .batch = 20});
  const auto history = trainer.fit(net, mse, tl::optim::Adam({.lr = 0.05}), rows);
  EXPECT_EQ(history.epochs.size(), 60U);
  EXPECT_EQ(history.steps, 60 * 5);
  EXPECT_LT(trainer.evaluate(net, mse, rows).loss, 1e-2);
  EXPECT_NEAR(net.par.array().at(0), 0.5, 0.1);
  const tl::Array predicted = trainer.predict(net, tl::data::Dataset({{"x", x}, {"f", f}}));
  EXPECT_EQ(predicted.type_string(), "f32[96, 1]");
  EXPECT_NEAR(predicted.at(95), y.at(95), 0.3);
}

TEST(Tour, WeightsAreSavedAndLoaded) {
  Net net;
  net.initialize(1);
  const std::string path = testing::TempDir() + "tour.safetensors";
  tl::save_weights(net, path);
  Net again;
  tl::load_weights(again, path);
  EXPECT_TRUE(tl::identical(again.lin.weight.array(), net.lin.weight.array()));
}

TEST(Tour, LayersStackAndALossIsAnyFunction) {
  const Tensor x = tl::Array::of<float>({4, 2}, {0, 1, 1, 0, 1, 1, 2, 1});
  const Tensor y = tl::Array::of<float>({4, 1}, {-1, 3, 2, 5});
  tl::nn::Sequential net(tl::nn::Linear(2, 8), tl::nn::Tanh(), tl::nn::Linear(8, 1));
  const auto loss = tl::nn::mean_loss([](const Tensor& prediction, const Tensor& target) {
    return tl::mean(tl::log(tl::cosh(prediction - target)));
  });
  tl::Trainer trainer({.epochs = 200, .batch = 4, .metrics = {"mae"}});
  const tl::data::Dataset rows({{"x", x.array()}, {"y", y.array()}});
  trainer.fit(net, loss, tl::optim::AdamW({.lr = 0.05}), rows, rows);
  EXPECT_LT(trainer.evaluate(net, loss, rows).metrics.at(0), 0.2);
}

TEST(Tour, MistakesAreNamed) {
  try {
    (void)tl::matmul(tl::ones({2, 3}), tl::ones({2, 3}));
    FAIL() << "matmul of [2, 3] and [2, 3] must be refused";
  } catch (const tl::Error& e) {
    EXPECT_NE(std::string(e.what()).find("matmul"), std::string::npos) << e.what();
  }
}

}  // namespace
