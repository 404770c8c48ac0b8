// SPDX-License-Identifier: Apache-2.0
// A classifier of clothing (Debian: dataset-fashion-mnist) to over 88 % on images that it has not seen.
//   example_fashion_mnist [EPOCHS]
#include <tightloop/tightloop.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace tl = tightloop;

// Images stay bytes in memory; turning them into numbers is part of the compiled loop.
struct Classifier : tl::nn::Module {
  tl::nn::Sequential net{tl::nn::Flatten(), tl::nn::Linear(28 * 28, 256),
                         tl::nn::ReLU(),    tl::nn::Linear(256, 256),
                         tl::nn::ReLU(),    tl::nn::Linear(256, 10)};

  void fields(tl::nn::Fields& f) override { f("net", net); }
  tl::Tensor operator()(const tl::Tensor& image) { return net((image / 255.0 - 0.286) / 0.353); }
};

tl::data::Dataset images_and_labels(const std::string& part) {
  const std::string start = "/usr/share/datasets/fashion-mnist/" + part;
  return tl::data::Dataset({{"image", tl::io::read_idx(start + "-images-idx3-ubyte.gz")},
                            {"label", tl::io::read_idx(start + "-labels-idx1-ubyte.gz")}});
}

struct Printer : tl::train::Observer {
  void epoch(const tl::train::EpochRecord& e) override {
    std::printf("epoch %2lld  train loss %.4f  test loss %.4f  test accuracy %.2f %%  %.0f images/s\n",
                static_cast<long long>(e.epoch), e.train_loss, e.validation->loss,
                100 * e.validation->metrics[0], e.samples_per_s);
    std::fflush(stdout);
  }
};

int main(int argc, char** argv) {
  const std::int64_t epochs = argc > 1 ? std::atoll(argv[1]) : 10;
  const tl::data::Dataset train = images_and_labels("train");
  const tl::data::Dataset test = images_and_labels("t10k");

  Classifier model;
  Printer printer;
  tl::Trainer trainer(
      {.epochs = epochs, .batch = 128, .seed = 1, .metrics = {"accuracy"}, .observer = &printer});
  const auto history =
      trainer.fit(model, tl::nn::make_loss("cross_entropy"), tl::optim::Adam({.lr = 5e-4}), train, test);

  const double accuracy = history.epochs.back().validation->metrics[0];
  std::printf("%.2f %% of %lld test images are right, after %.1f s\n", 100 * accuracy,
              static_cast<long long>(test.rows()), history.epochs.back().seconds);
  return accuracy > 0.88 ? 0 : 1;
}
