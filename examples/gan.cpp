// SPDX-License-Identifier: Apache-2.0
// A generative adversarial network with two optimizers: eight small clouds of points on a ring are learned by
// a generator that only hears what a critic thinks of its points. Both updates are one compiled step, which
// is looped natively; the critic is held smooth by its own slope (R1, Mescheder et al. 2018), a gradient of a
// gradient.
#include <tightloop/tightloop.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>

namespace tl = tightloop;
using tl::Tensor;

constexpr int kClouds = 8;
constexpr double kSpread = 0.1;  // of a cloud; the ring has radius 2

std::array<double, 2> centre(int cloud) {
  const double angle = 2 * std::numbers::pi * cloud / kClouds;
  return {2 * std::cos(angle), 2 * std::sin(angle)};
}

// [rows, 2]
tl::Array points(std::int64_t rows) {
  tl::Array out = (tl::Generator(1).normal({rows, 2}) * kSpread).array().clone();
  for (std::int64_t i = 0; i < out.count(); ++i)
    out.set(i, out.at(i) + centre(int(i / 2 % kClouds))[std::size_t(i % 2)]);
  return out;
}

int main() {
  tl::nn::Sequential generator(tl::nn::Linear(8, 64), tl::nn::ReLU(), tl::nn::Linear(64, 64), tl::nn::ReLU(),
                               tl::nn::Linear(64, 2));
  tl::nn::Sequential critic(tl::nn::Linear(2, 64), tl::nn::LeakyReLU(0.2), tl::nn::Linear(64, 64),
                            tl::nn::LeakyReLU(0.2), tl::nn::Linear(64, 1));
  generator.initialize(1);
  critic.initialize(2);
  tl::optim::State generator_adam(tl::optim::Adam({.lr = 1e-3, .beta1 = 0.5}), generator.variables());
  tl::optim::State critic_adam(tl::optim::Adam({.lr = 2e-3, .beta1 = 0.5}), critic.variables());
  const tl::Generator random(3);

  auto train = tl::loop(
      [&](const Tensor& real) {
        const Tensor made = generator(random.normal({real.dim(0), 8}));
        const Tensor slope = tl::grad([&](const Tensor& x) { return tl::sum(critic(x)); })(real);
        const Tensor critic_loss = tl::mean(tl::softplus(-critic(real))) +
                                   tl::mean(tl::softplus(critic(tl::stop_gradient(made)))) +
                                   0.05 * tl::mean(tl::sum(tl::square(slope), {1}));
        critic_adam.minimize(critic_loss);
        const Tensor generator_loss = tl::mean(tl::softplus(-critic(made)));  // by the critic as it is now
        generator_adam.minimize(generator_loss);
        return std::pair(critic_loss, generator_loss);
      },
      {.batch = 128});
  const tl::Array real = points(16384);
  for (int i = 1; i <= 6; ++i) {
    const auto [critic_loss, generator_loss] = train.run(1000, real);
    std::printf("step %5d  critic %.3f  generator %.3f\n", 1000 * i, critic_loss.item(),
                generator_loss.item());
  }

  const std::int64_t rows = 4000;
  const tl::Array made = generator(random.normal({rows, 8})).array();
  std::array<int, kClouds> hits{};
  for (std::int64_t i = 0; i < rows; ++i)
    for (int cloud = 0; cloud < kClouds; ++cloud) {
      const auto [x, y] = centre(cloud);
      hits[std::size_t(cloud)] += std::hypot(made.at(2 * i) - x, made.at(2 * i + 1) - y) < 3 * kSpread;
    }
  int covered = 0, all = 0;
  for (const int n : hits) covered += n > rows / kClouds / 4, all += n;
  std::printf("%d of %d clouds are covered, %.1f %% of the points are in one\n", covered, kClouds,
              100.0 * all / double(rows));
  return covered == kClouds && all > 0.8 * rows ? 0 : 1;
}
