// SPDX-License-Identifier: Apache-2.0
// A physics-informed network: u'' - u = -5 sin 2x on [0, π] with u(0) = u(π) = 0, whose solution is sin 2x,
// is learned from the equation alone. Second derivatives of the network are part of the loss, all is f64, and
// 500 iterations of L-BFGS leave a largest error of about 1e-5.
#include <tightloop/tightloop.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace tl = tightloop;
using tl::Tensor;

// R → R, one hidden layer of tanh.
struct Net : tl::nn::Module {
  static constexpr std::int64_t width = 20;
  tl::Parameter slope{{width}, tl::nn::init::normal(0, 2), tl::DType::f64};
  tl::Parameter shift{{width}, tl::nn::init::uniform(-3, 3), tl::DType::f64};
  tl::Parameter out{{width}, tl::nn::init::normal(0, 0.3), tl::DType::f64};

  void fields(tl::nn::Fields& f) override { f("slope", slope)("shift", shift)("out", out); }
  // The factor x (π - x) is 0 at both ends, and so is u.
  Tensor operator()(const Tensor& x) {
    return x * (std::numbers::pi - x) * tl::sum(out * tl::tanh(slope * x + shift));
  }
};

// `rows` points from 0 to π.
Tensor grid(std::int64_t rows) {
  return tl::iota({rows}, 0, tl::DType::f64) * (std::numbers::pi / static_cast<double>(rows - 1));
}

int main() {
  Net net;
  net.initialize(1);
  auto u = [&net](const Tensor& x) { return net(x); };

  const Tensor x = grid(64);
  auto second = tl::vmap(tl::grad(tl::grad(u)));
  auto loss = [&] { return tl::mean(tl::square(second(x) - tl::vmap(u)(x) + 5.0 * tl::sin(2.0 * x))); };

  tl::optim::Minimizer lbfgs(
      loss, net.variables(),
      {.max_iter = 100, .tolerance_change = 1e-14, .line_search = tl::optim::LineSearch::strong_wolfe});
  for (int i = 1; i <= 5; ++i) {
    const tl::optim::Minimum m = lbfgs.step();
    std::printf("%4d iterations: loss %.2e\n", 100 * i, m.loss);
    if (m.converged) break;
  }

  const Tensor points = grid(501);
  const double error = tl::amax(tl::abs(tl::vmap(u)(points) - tl::sin(2.0 * points))).item();
  std::printf("largest error against sin 2x: %.2e\n", error);
  return error < 1e-4 ? 0 : 1;
}
