// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/activations.h>
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/conv.h>
#include <tightloop/nn/layers/dropout.h>
#include <tightloop/nn/layers/linear.h>
#include <tightloop/nn/layers/pool.h>
#include <tightloop/nn/models/images.h>
#include <tightloop/nn/models/index.h>
#include <tightloop/nn/models/vgg.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tightloop::nn {
namespace {

/// Convolutions of each of the five stages.
std::array<int, 5> stages_of(const char* name, int layers) {
  switch (layers) {
    case 11:
      return {1, 1, 2, 2, 2};
    case 13:
      return {2, 2, 2, 2, 2};
    case 16:
      return {2, 2, 3, 3, 3};
    case 19:
      return {2, 2, 4, 4, 4};
    default:
      throw Error(fmt::format("{}: there are 11, 13, 16 or 19 layers, got {}", name, layers));
  }
}

template <class L>
void add(Sequential& s, L layer) {
  s.add(std::make_unique<L>(std::move(layer)));
}

/// A linear layer that starts with deviation 0.01 and bias 0.
Linear narrow_start(std::int64_t in, std::int64_t out) {
  Linear layer(in, out);
  layer.weight = Parameter({out, in}, init::normal(0, 0.01));
  layer.bias = Parameter({out});
  return layer;
}

}  // namespace

Vgg::Vgg(VggOptions o, const char* name) : options_(o) {
  const std::int64_t least = std::min({o.channels, o.classes, o.width, o.hidden});
  if (least < 1)
    throw Error(
        fmt::format("{}: channels, classes, width and hidden must be 1 or greater, got {}", name, least));
  const auto stages = stages_of(name, o.layers);
  std::int64_t in = o.channels;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const std::int64_t out = o.width << std::min<std::size_t>(s, 3);
    for (int i = 0; i < stages[s]; ++i) {
      add(features, Conv2d(in, out, 3, {.padding = 1}));
      if (o.batch_norm) add(features, BatchNorm2d(out));
      add(features, ReLU());
      in = out;
    }
    add(features, MaxPool2d(2));
  }
  for (const std::int64_t from : {49 * in, o.hidden}) {
    add(classifier, narrow_start(from, o.hidden));
    add(classifier, ReLU());
    add(classifier, Dropout(o.dropout));
  }
  add(classifier, narrow_start(o.hidden, o.classes));
  models::start_by_fan_out(*this);
}

std::string Vgg::describe() const {
  return fmt::format("VGG({} layers, {} classes)", options_.layers, options_.classes);
}

Tensor Vgg::forward(const Tensor& x) { return classifier(flatten(adaptive_avg_pool(features(x), 7), 1)); }

namespace models {
namespace {

template <int layers, bool batch_norm>
constexpr const char* name_of() {
  return layers == 11 ? "vgg11" : batch_norm ? "vgg16_bn" : "vgg16";
}

template <int layers, bool batch_norm>
std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  constexpr const char* name = name_of<layers, batch_norm>();
  return std::make_unique<Vgg>(VggOptions{.layers = layers,
                                          .batch_norm = batch_norm,
                                          .channels = image_channels(name, x),
                                          .classes = o.at<std::int64_t>("classes"),
                                          .width = o.at<std::int64_t>("width"),
                                          .hidden = o.at<std::int64_t>("hidden"),
                                          .dropout = o.at<double>("dropout")},
                               name);
}

template <int layers, bool batch_norm>
LayerDef def(const char* doc) {
  return {name_of<layers, batch_norm>(),
          doc,
          {{"classes", OptionType::integer, std::int64_t{1000}},
           {"dropout", OptionType::number, 0.5},
           {"width", OptionType::integer, std::int64_t{64}},
           {"hidden", OptionType::integer, std::int64_t{4096}}},
          build<layers, batch_norm>};
}

}  // namespace

const LayerDef& vgg11_def() {
  static const LayerDef made = def<11, false>("VGG with 11 layers of images [B, C, H, W]");
  return made;
}
const LayerDef& vgg16_def() {
  static const LayerDef made = def<16, false>("VGG with 16 layers of images [B, C, H, W]");
  return made;
}
const LayerDef& vgg16_bn_def() {
  static const LayerDef made = def<16, true>("VGG with 16 layers and batch norms of images [B, C, H, W]");
  return made;
}

}  // namespace models
}  // namespace tightloop::nn
