// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/activations.h>
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/conv.h>
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/models/images.h>
#include <tightloop/nn/models/index.h>
#include <tightloop/nn/models/mobilenet_v2.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tightloop::nn {
namespace {

/// A row of the paper's table 2: `repeats` blocks, the first of this stride.
struct Row {
  std::int64_t expansion, channels, repeats, stride;
};
constexpr std::array<Row, 7> kRows{{{1, 16, 1, 1},
                                    {6, 24, 2, 2},
                                    {6, 32, 3, 2},
                                    {6, 64, 4, 2},
                                    {6, 96, 3, 1},
                                    {6, 160, 3, 2},
                                    {6, 320, 1, 1}}};

/// To the nearest eight, but no less than nine tenths of it.
std::int64_t in_eights(double channels) {
  const auto rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

template <class L>
void add(Sequential& s, L layer) {
  s.add(std::make_unique<L>(std::move(layer)));
}

Sequential conv_norm_act(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                         std::int64_t groups) {
  return Sequential(Conv2d(in, out, kernel,
                           {.stride = stride, .padding = (kernel - 1) / 2, .groups = groups, .bias = false}),
                    BatchNorm2d(out), ReLU6());
}

/// Widens, filters each channel, narrows; x is added where shapes agree.
class InvertedResidual final : public Layer {
 public:
  InvertedResidual(std::int64_t in, std::int64_t out, std::int64_t stride, std::int64_t expansion)
      : adds_(stride == 1 && in == out) {
    const std::int64_t hidden = in * expansion;
    if (expansion != 1) add(conv, conv_norm_act(in, hidden, 1, 1, 1));
    add(conv, conv_norm_act(hidden, hidden, 3, stride, hidden));
    add(conv, Conv2d(hidden, out, 1, {.bias = false}));
    add(conv, BatchNorm2d(out));
  }
  void fields(Fields& f) override { f("conv", conv); }
  std::string describe() const override { return "InvertedResidual"; }

  Sequential conv;

 protected:
  Tensor forward(const Tensor& x) override {
    const Tensor y = conv(x);
    return adds_ ? x + y : y;
  }

 private:
  bool adds_;
};

}  // namespace

MobileNetV2::MobileNetV2(MobileNetV2Options o) : options_(o) {
  if (o.channels < 1 || o.classes < 1 || !(o.width > 0))
    throw Error(fmt::format(
        "mobilenet_v2: channels and classes must be 1 or greater and width above 0, got {}, {} and {}",
        o.channels, o.classes, o.width));
  std::int64_t in = in_eights(32 * o.width);
  const std::int64_t last = in_eights(1280 * std::max(1.0, o.width));
  add(features, conv_norm_act(o.channels, in, 3, o.cifar ? 1 : 2, 1));
  for (std::size_t r = 0; r < kRows.size(); ++r) {
    const std::int64_t out = in_eights(static_cast<double>(kRows[r].channels) * o.width);
    const std::int64_t stride = o.cifar && r < 3 ? 1 : kRows[r].stride;
    for (std::int64_t i = 0; i < kRows[r].repeats; ++i) {
      add(features, InvertedResidual(in, out, i == 0 ? stride : 1, kRows[r].expansion));
      in = out;
    }
  }
  add(features, conv_norm_act(in, last, 1, 1, 1));
  add(classifier, Dropout(o.dropout));
  Linear top(last, o.classes);
  top.weight = Parameter({o.classes, last}, init::normal(0, 0.01));
  top.bias = Parameter({o.classes});
  add(classifier, std::move(top));
  models::start_by_fan_out(*this);
}

std::string MobileNetV2::describe() const {
  return fmt::format("MobileNetV2(width {}, {} classes)", options_.width, options_.classes);
}

Tensor MobileNetV2::forward(const Tensor& x) { return classifier(mean(features(x), {2, 3})); }

namespace models {
namespace {

std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  const auto& stem = o.at<std::string>("stem");
  if (stem != "cifar" && stem != "imagenet")
    throw Error(fmt::format("mobilenet_v2: stem must be \"imagenet\" or \"cifar\", got \"{}\"", stem));
  return std::make_unique<MobileNetV2>(MobileNetV2Options{.channels = image_channels("mobilenet_v2", x),
                                                          .classes = o.at<std::int64_t>("classes"),
                                                          .width = o.at<double>("width"),
                                                          .dropout = o.at<double>("dropout"),
                                                          .cifar = stem == "cifar"});
}

}  // namespace

const LayerDef& mobilenet_v2_def() {
  static const LayerDef made{"mobilenet_v2",
                             "MobileNetV2 of images [B, C, H, W]",
                             {{"classes", OptionType::integer, std::int64_t{1000}},
                              {"stem", OptionType::text, std::string("imagenet")},
                              {"width", OptionType::number, 1.0},
                              {"dropout", OptionType::number, 0.2}},
                             build};
  return made;
}

}  // namespace models
}  // namespace tightloop::nn
