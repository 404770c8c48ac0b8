// SPDX-License-Identifier: Apache-2.0
// A training loop written by hand, without the Trainer: two spirals, one compiled step, a learning rate that
// falls.
#include <tightloop/tightloop.h>

#include <cmath>
#include <cstdio>

namespace tl = tightloop;
using tl::Tensor;

struct Spirals {
  Tensor points;  // [rows, 2]
  Tensor arms;    // i64[rows]: 0 or 1
};

Spirals spirals(std::int64_t rows) {
  tl::Array points(tl::DType::f32, {rows, 2});
  tl::Array arms(tl::DType::i64, {rows});
  for (std::int64_t i = 0; i < rows; ++i) {
    const double turn = 0.5 + 9 * static_cast<double>(i) / static_cast<double>(rows);
    const double side = i % 2 == 0 ? 0.1 : -0.1;
    points.set(2 * i, side * turn * std::cos(turn));
    points.set(2 * i + 1, side * turn * std::sin(turn));
    arms.set_int(i, i % 2);
  }
  return {points, arms};
}

int main() {
  const auto [x, y] = spirals(1024);
  tl::nn::Sequential net(tl::nn::Linear(2, 64), tl::nn::Tanh(), tl::nn::Linear(64, 64), tl::nn::Tanh(),
                         tl::nn::Linear(64, 2));
  net.initialize(1);

  // Forward, backward and update become one native function. It updates the network and Adam's memory in
  // place.
  tl::optim::State adam(tl::optim::Adam(), net.variables());
  auto step = tl::compile([&](const Tensor& points, const Tensor& arms) {
    const Tensor loss = tl::nn::cross_entropy(net(points), arms);
    adam.update(tl::optim::clip_by_global_norm(tl::gradients(loss, net.variables()), 1.0));
    return loss;
  });
  auto accuracy = tl::compile([&](const Tensor& points, const Tensor& arms) {
    return tl::mean(tl::cast(tl::argmax(net(points), 1) == arms, tl::DType::f32));
  });

  const int steps = 600;
  for (int i = 0; i < steps; ++i) {
    adam.set_lr(1e-2 * (1 - static_cast<double>(i) / steps));
    const double loss = step(x, y).item();
    if (i % 100 == 0) std::printf("step %3d  loss %.4f  accuracy %.3f\n", i, loss, accuracy(x, y).item());
  }
  std::printf("step %3d  accuracy %.3f\n", steps, accuracy(x, y).item());
  return accuracy(x, y).item() > 0.95 ? 0 : 1;
}
