// SPDX-License-Identifier: Apache-2.0
// A structured network: a linear layer, plus one free parameter times a second input.
//   example_structured [EPOCHS]
#include <tightloop/tightloop.h>

#include <cstdio>
#include <cstdlib>

namespace tl = tightloop;
using tl::Tensor;

struct Net : tl::nn::Module {
  tl::nn::Linear lin{40, 1, {.bias = false}};
  tl::Parameter par{{1}};

  void fields(tl::nn::Fields& f) override { f("lin", lin)("par", par); }
  Tensor operator()(const Tensor& x, const Tensor& f) { return lin(x) + par * f; }
};

// [rows, columns], counting 0, 1, 2, ...
tl::Array counting(std::int64_t rows, std::int64_t columns) {
  tl::Array out(tl::DType::f32, {rows, columns});
  float next = 0;
  for (float& value : out.as<float>()) value = next++;
  return out;
}

int main(int argc, char** argv) {
  const std::int64_t epochs = argc > 1 ? std::atoll(argv[1]) : 300;
  const tl::data::Dataset rows(
      {{"x", counting(38400, 40)}, {"f", counting(38400, 1)}, {"y", counting(38400, 1)}});

  Net net;
  tl::Trainer trainer({.epochs = epochs, .batch = 128, .shuffle = false});
  const auto history = trainer.fit(net, tl::nn::make_loss("mse"), tl::optim::Adam({.lr = 5e-4}), rows);

  const auto& first = history.epochs.front();
  const auto& last = history.epochs.back();
  std::printf("%s", net.summary().c_str());
  std::printf("loss %.4g after epoch 1, %.4g after epoch %lld\n", first.train_loss, last.train_loss,
              static_cast<long long>(last.epoch));
  std::printf("%lld steps in %.3f s: %.2f us a step\n", static_cast<long long>(history.steps), last.seconds,
              1e6 * last.seconds / static_cast<double>(history.steps));
  return last.train_loss < first.train_loss ? 0 : 1;
}
