// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/models/lenet5.h>

#include <tightloop/nn/models/index.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

namespace tightloop::nn {
namespace {

std::int64_t padding_of(std::int64_t size) {
  if (size != 28 && size != 32)
    throw Error(fmt::format("lenet5: images must be 28 x 28 or 32 x 32, got {} x {}", size, size));
  return size == 28 ? 2 : 0;
}

}  // namespace

LeNet5::LeNet5(LeNet5Options o)
    : conv1(o.channels, 6, 5, {.padding = padding_of(o.size)}),
      conv2(6, 16, 5),
      fc1(400, 120),
      fc2(120, 84),
      fc3(84, o.classes) {}

std::string LeNet5::describe() const { return fmt::format("LeNet5({})", fc3.weight.dims()[0]); }

Tensor LeNet5::forward(const Tensor& x) {
  Tensor h = x.rank() == 3 ? unsqueeze(x, 1) : x;
  h = avg_pool(tanh(conv1(h)), {.kernel = 2});
  h = avg_pool(tanh(conv2(h)), {.kernel = 2});
  h = tanh(fc1(flatten(h, 1)));
  return fc3(tanh(fc2(h)));
}

namespace models {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  const std::size_t rank = x.shape.rank();
  const auto is_number = [&](std::size_t d) { return x.shape[d].is_static(); };
  if (rank < 3 || rank > 4 || !is_number(rank - 1) || x.shape[rank - 1] != x.shape[rank - 2] || !is_number(1))
    throw Error(
        fmt::format("lenet5: x must be square images [B, C, H, W] or [B, H, W], got {}", to_string(x)));
  return std::make_unique<LeNet5>(LeNet5Options{.channels = rank == 3 ? 1 : x.shape[1].factor,
                                                .size = x.shape[rank - 1].factor,
                                                .classes = o.at<std::int64_t>("classes")});
}

}  // namespace

const LayerDef& lenet5_def() {
  static const LayerDef made{"lenet5",
                             "LeNet-5 of images [B, C, 28, 28] (or 32, or without C)",
                             {{"classes", OptionType::integer, std::int64_t{10}}},
                             build};
  return made;
}

}  // namespace models
}  // namespace tightloop::nn
