// SPDX-License-Identifier: Apache-2.0
// Fine-tuning: a network that has learned to find the digits 0 to 4 anywhere in a noisy picture learns 5 to 9
// from ten pictures of each, beside one that starts from nothing (digits: Debian's python3-sklearn).
#include <tightloop/tightloop.h>

#include <cstdio>

#include "digit_pictures.h"

namespace tl = tightloop;

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
  tl::Tensor operator()(const tl::Tensor& image) { return head(body(tl::unsqueeze(image / 16.0, 1))); }
};

template <class Rule>
void fit(Classifier& net, const tl::data::Dataset& data, std::int64_t epochs, const Rule& rule) {
  tl::Trainer({.epochs = epochs, .batch = 32}).fit(net, tl::nn::make_loss("cross_entropy"), rule, data);
}

double accuracy(Classifier& net, const tl::data::Dataset& data) {
  tl::Trainer trainer({.metrics = {"accuracy"}});
  return 100 * trainer.evaluate(net, tl::nn::make_loss("cross_entropy"), data).metrics[0];
}

int main() {
  Classifier known;
  fit(known, digit_pictures(0, 0, 1000, 10), 6, tl::optim::Adam({.lr = 1e-3}));
  tl::save_weights(known, "known.safetensors");

  const auto few = digit_pictures(5, 0, 10, 1), test = digit_pictures(5, 10, 1000, 1);
  Classifier tuned;  // the head is drawn anew
  tl::load_weights(tuned.body, "known.safetensors", {.strip = "body.", .strict = false});
  tuned.body.freeze();
  fit(tuned, few, 60, tl::optim::Adam({.lr = 1e-2}));
  std::printf("a new head on the body that knows 0 to 4: %.1f %%\n", accuracy(tuned, test));
  tuned.body.freeze(false);
  const auto groups = std::vector<tl::optim::Group>{{.pattern = "body.*", .lr_scale = 0.1}};
  fit(tuned, few, 60, tl::optim::with_groups(tl::optim::Adam({.lr = 1e-2}), groups));
  const double with = accuracy(tuned, test);
  std::printf("then all of it, the body at a tenth of the rate: %.1f %%\n", with);

  Classifier fresh;
  fit(fresh, few, 120, tl::optim::Adam({.lr = 1e-3}));
  const double without = accuracy(fresh, test);
  std::printf("from nothing: %.1f %%\n", without);
  return with > without + 10 ? 0 : 1;
}
