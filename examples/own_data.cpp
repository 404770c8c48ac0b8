// SPDX-License-Identifier: Apache-2.0
// Data of one's own that never lies in memory as a whole: pictures of discs and squares, drawn when they are
// needed, by worker threads where that pays. Every epoch draws others.
#include <tightloop/tightloop.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>

namespace tl = tightloop;
using tl::Tensor;

struct Picture {
  std::array<std::uint8_t, 24 * 24> pixels;
  std::int64_t kind;  // the target comes last: 0 a disc, 1 a square
};

struct Pictures {
  std::int64_t rows;
  std::int64_t size() const { return rows; }

  Picture get(std::int64_t i, const tl::data::SampleKey& key) const {
    std::seed_seq seed{key.seed, std::uint64_t(key.epoch), std::uint64_t(i)};
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> place(8, 16), radius(4, 8);
    const double x = place(random), y = place(random), r = radius(random);
    Picture out{{}, i % 2};
    for (int row = 0; row < 24; ++row)
      for (int column = 0; column < 24; ++column) {
        const double dx = std::fabs(column - x), dy = std::fabs(row - y);
        const bool inside = out.kind == 0 ? std::hypot(dx, dy) < r : std::fmax(dx, dy) < 0.886 * r;
        out.pixels[std::size_t(row * 24 + column)] = std::uint8_t((inside ? 200 : 30) + random() % 50);
      }
    return out;
  }
};

struct Net : tl::nn::Module {
  tl::nn::Linear in{24 * 24, 64}, out{64, 2};
  void fields(tl::nn::Fields& f) override { f("in", in)("out", out); }
  Tensor operator()(const Tensor& pixels) { return out(tl::relu(in(pixels / 255.0))); }
};

int main() {
  const auto train = tl::train::stream(tl::data::samples_of(Pictures{4000}));
  const auto test = tl::train::stream(tl::data::samples_of(Pictures{1001}));
  Net net;
  tl::Trainer trainer({.epochs = 30, .batch = 50, .seed = 1, .metrics = {"accuracy"}});
  const auto loss = tl::nn::make_loss("cross_entropy");
  trainer.fit(net, loss, tl::optim::Adam({.lr = 2e-3}), train);
  const double accuracy = trainer.evaluate(net, loss, test).metrics[0];
  std::printf("accuracy %.3f\n", accuracy);
  return accuracy > 0.9 ? 0 : 1;
}
