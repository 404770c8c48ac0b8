// SPDX-License-Identifier: Apache-2.0
// A loss of one's own: the pinball loss, whose minimum are quantiles. The data is a sine with noise that
// grows to the right; the network learns the lines under which 10 %, 50 % and 90 % of it lie.
#include <tightloop/tightloop.h>

#include <cmath>
#include <cstdio>

namespace tl = tightloop;
using tl::Tensor;

// prediction: [B, 3], one column a quantile; target: [B, 1]. Compiled into the training step like any other
// loss.
Tensor pinball(const Tensor& prediction, const Tensor& target) {
  const Tensor q = tl::Array::of<float>({3}, {0.1F, 0.5F, 0.9F});
  const Tensor error = target - prediction;
  return tl::mean(tl::maximum(q * error, (q - 1.0) * error));
}

// Fields x and y, [rows, 1].
tl::data::Dataset noisy_sine(std::int64_t rows, std::int64_t seed) {
  const Tensor draws = tl::Array::scalar<std::int64_t>(seed);
  const Tensor none = tl::Array::scalar<std::int64_t>(0);
  const Tensor x = tl::random_uniform({rows, 1}, draws, none, 0) * 4.0;
  const Tensor y = tl::sin(x) + tl::random_normal({rows, 1}, draws, none, 1) * (0.1 + 0.1 * x);
  return tl::data::Dataset({{"x", x.array()}, {"y", y.array()}});
}

int main() {
  const tl::data::Dataset train = noisy_sine(8192, 1);
  const tl::data::Dataset test = noisy_sine(8192, 2);

  tl::nn::Sequential net(tl::nn::Linear(1, 32), tl::nn::Tanh(), tl::nn::Linear(32, 32), tl::nn::Tanh(),
                         tl::nn::Linear(32, 3));
  const auto loss = tl::nn::mean_loss(pinball);
  tl::Trainer trainer({.epochs = 60, .batch = 128});
  trainer.fit(net, loss, tl::optim::Adam({.lr = 3e-3}), train);

  const Tensor lines = trainer.predict(net, tl::data::Dataset({{"x", test["x"]}}));
  const Tensor under = tl::mean(tl::cast(Tensor(test["y"]) < lines, tl::DType::f32), {0});
  std::printf("pinball loss on fresh data: %.4f\n", trainer.evaluate(net, loss, test).loss);
  bool right = true;
  for (const std::int64_t i : {0, 1, 2}) {
    const double wanted = 0.1 + 0.4 * static_cast<double>(i);
    std::printf("%.1f %% of it lies under the line for %.0f %%\n", 100 * under.array().at(i), 100 * wanted);
    right = right && std::abs(under.array().at(i) - wanted) < 0.03;
  }
  return right ? 0 : 1;
}
