// SPDX-License-Identifier: Apache-2.0
// Fine-tuning: a network that has learned to find the digits 0 to 4 anywhere in a noisy picture learns 5 to 9
// from ten pictures of each, beside one that starts from nothing (digits: Debian's python3-sklearn).
#include <tightloop/tightloop.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

namespace tl = tightloop;
using tl::Tensor;

struct Classifier : tl::nn::Module {
  tl::nn::Sequential body{tl::nn::Conv2d(1, 16, 3, {.padding = 1}),
                          tl::nn::ReLU(),
                          tl::nn::MaxPool2d(2),
                          tl::nn::Conv2d(16, 32, 3, {.padding = 1}),
                          tl::nn::ReLU(),
                          tl::nn::MaxPool2d(2),
                          tl::nn::Flatten(),
                          tl::nn::Linear(32 * 4 * 4, 64),
                          tl::nn::ReLU()};
  tl::nn::Linear head{64, 5};

  void fields(tl::nn::Fields& f) override { f("body", body)("head", head); }
  Tensor operator()(const Tensor& image) { return head(body(tl::unsqueeze(image / 16.0, 1))); }
};

const std::string kDigits = "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz";

// The digits first .. first + 4, from the `skip`-th of each on and at most `each`, `times` over: pictures
// u8[rows, 16, 16] with a digit of 8 x 8 somewhere, and classes 0 .. 4.
tl::data::Dataset pictures(int first, int skip, int each, int times) {
  static const tl::Array table = tl::data::read_csv(kDigits, {"*"});  // 64 pixels of 0 .. 16, and the digit
  std::mt19937 random(1);
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;
  std::vector<int> met(5, 0);
  for (std::int64_t row = 0; row < table.dims()[0]; ++row) {
    const int label = int(table.at(65 * row + 64)) - first;
    if (label < 0 || label > 4 || met[std::size_t(label)]++ < skip || met[std::size_t(label)] > skip + each)
      continue;
    for (int k = 0; k < times; ++k) {
      const int top = int(random() % 9), left = int(random() % 9);
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) {
          const bool inside = y >= top && y < top + 8 && x >= left && x < left + 8;
          const double ink = inside ? table.at(65 * row + 8 * (y - top) + x - left) : 0;
          pixels.push_back(std::uint8_t(std::max<double>(ink, random() % 6)));
        }
      labels.push_back(label);
    }
  }
  const auto n = std::int64_t(labels.size());
  return tl::data::Dataset({{"image", tl::Array::of<std::uint8_t>({n, 16, 16}, pixels)},
                            {"label", tl::Array::of<std::int64_t>({n}, labels)}});
}

template <class Rule>
void fit(Classifier& net, const tl::data::Dataset& data, std::int64_t epochs, const Rule& rule) {
  tl::Trainer({.epochs = epochs, .batch = 32}).fit(net, tl::nn::make_loss("cross_entropy"), rule, data);
}

double accuracy(Classifier& net, const tl::data::Dataset& data) {
  return 100 * tl::Trainer({.metrics = {"accuracy"}})
                   .evaluate(net, tl::nn::make_loss("cross_entropy"), data)
                   .metrics[0];
}

int main() {
  Classifier known;
  fit(known, pictures(0, 0, 1000, 10), 6, tl::optim::Adam({.lr = 1e-3}));
  tl::save_weights(known, "known.safetensors");

  const auto few = pictures(5, 0, 10, 1), test = pictures(5, 10, 1000, 1);
  Classifier tuned;  // the head is drawn anew
  tl::load_weights(tuned.body, "known.safetensors", {.strip = "body.", .strict = false});
  tuned.body.freeze();
  fit(tuned, few, 60, tl::optim::Adam({.lr = 1e-2}));
  std::printf("a new head on the body that knows 0 to 4: %.1f %%\n", accuracy(tuned, test));
  tuned.body.freeze(false);
  fit(tuned, few, 60,
      tl::optim::with_groups(tl::optim::Adam({.lr = 1e-2}), {{.pattern = "body.*", .lr_scale = 0.1}}));
  const double with = accuracy(tuned, test);
  std::printf("then all of it, the body at a tenth of the rate: %.1f %%\n", with);

  Classifier fresh;
  fit(fresh, few, 120, tl::optim::Adam({.lr = 1e-3}));
  const double without = accuracy(fresh, test);
  std::printf("from nothing: %.1f %%\n", without);
  return with > without + 10 ? 0 : 1;
}
