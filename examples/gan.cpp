// SPDX-License-Identifier: Apache-2.0
// A generative adversarial network with two optimizers: eight small clouds of points on a ring are learned by
// a generator that only hears what a critic thinks of its points. Both updates are one compiled step, which
// is looped natively; the critic is held smooth by its own slope (R1, Mescheder et al. 2018), a gradient of a
// gradient.
#include <tightloop/tightloop.h>

#include <cstdio>

#include "ring.h"

namespace tl = tightloop;
using tl::Tensor;

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
  const tl::Array real = ring::points(16384);
  for (int i = 1; i <= 6; ++i) {
    const auto [critic_loss, generator_loss] = train.run(1000, real);
    std::printf("step %5d  critic %.3f  generator %.3f\n", 1000 * i, critic_loss.item(),
                generator_loss.item());
  }

  const ring::Score score = ring::score(generator(random.normal({4000, 8})).array());
  std::printf("%d of %d clouds are covered, %.1f %% of the points are in one\n", score.covered, ring::kClouds,
              100 * score.inside);
  return score.covered == ring::kClouds && score.inside > 0.8 ? 0 : 1;
}
