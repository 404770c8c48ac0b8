// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/models/images.h>
#include <tightloop/nn/models/index.h>
#include <tightloop/nn/models/resnet.h>
#include <tightloop/ops/functions.h>

#include <fmt/format.h>

#include <algorithm>

namespace tightloop::nn {
namespace {

constexpr std::int64_t kExpansion = 4;  // of a bottleneck's last convolution

ConvOptions plain(std::int64_t stride, std::int64_t padding) {
  return {.stride = stride, .padding = padding, .bias = false};
}

/// Convolutions with a batch norm each, beside a shortcut that is a 1 × 1 convolution where shapes change.
class Block final : public Layer {
 public:
  Block(std::int64_t in, std::int64_t width, std::int64_t stride, bool bottleneck) {
    const std::int64_t out = bottleneck ? kExpansion * width : width;
    if (bottleneck) {
      add(in, width, 1, 1);
      add(width, width, 3, stride);
      add(width, out, 1, 1);
    } else {
      add(in, width, 3, stride);
      add(width, width, 3, 1);
    }
    if (stride != 1 || in != out) shortcut_.emplace(Conv2d(in, out, 1, plain(stride, 0)), BatchNorm2d(out));
  }

  void fields(Fields& f) override {
    for (std::size_t i = 0; i < convolutions_.size(); ++i)
      f("conv" + std::to_string(i + 1), convolutions_[i])("bn" + std::to_string(i + 1), norms_[i]);
    if (shortcut_) f("downsample", *shortcut_);
  }
  std::string describe() const override { return convolutions_.size() == 3 ? "Bottleneck" : "BasicBlock"; }

 protected:
  Tensor forward(const Tensor& x) override {
    Tensor h = x;
    for (std::size_t i = 0; i < convolutions_.size(); ++i) {
      h = norms_[i](convolutions_[i](h));
      if (i + 1 < convolutions_.size()) h = relu(h);
    }
    return relu(h + (shortcut_ ? (*shortcut_)(x) : x));
  }

 private:
  void add(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride) {
    convolutions_.emplace_back(in, out, kernel, plain(stride, kernel / 2));
    norms_.emplace_back(out);
  }

  std::vector<Conv2d> convolutions_;
  std::vector<BatchNorm2d> norms_;
  std::optional<Sequential> shortcut_;
};

std::int64_t features(const ResNetOptions& o) { return 8 * o.width * (o.bottleneck ? kExpansion : 1); }

std::array<Sequential, 4> make_stages(const ResNetOptions& o) {
  std::array<Sequential, 4> stages;
  std::int64_t in = o.width;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const std::int64_t width = o.width << s;
    for (std::int64_t b = 0; b < o.blocks[s]; ++b) {
      stages[s].add(std::make_unique<Block>(in, width, b == 0 && s > 0 ? 2 : 1, o.bottleneck));
      in = o.bottleneck ? kExpansion * width : width;
    }
  }
  return stages;
}

ResNetOptions checked(const char* name, ResNetOptions o) {
  const std::int64_t least =
      std::min({o.channels, o.classes, o.width, *std::min_element(o.blocks.begin(), o.blocks.end())});
  if (least < 1)
    throw Error(
        fmt::format("{}: channels, classes, width and blocks must be 1 or greater, got {}", name, least));
  return o;
}

}  // namespace

ResNet::ResNet(ResNetOptions o, const char* name)
    : conv1(checked(name, o).channels, o.width, o.cifar ? 3 : 7, o.cifar ? plain(1, 1) : plain(2, 3)),
      bn1(o.width),
      stages(make_stages(o)),
      fc(features(o), o.classes),
      options_(o) {
  // As torchvision starts them: He's normal numbers by the fan out, so that signals keep their size.
  models::start_by_fan_out(*this);
}

void ResNet::fields(Fields& f) {
  f("conv1", conv1)("bn1", bn1);
  for (std::size_t s = 0; s < stages.size(); ++s) f("layer" + std::to_string(s + 1), stages[s]);
  f("fc", fc);
}

std::string ResNet::describe() const {
  return fmt::format("ResNet({}, {} classes)", fmt::join(options_.blocks, "-"), options_.classes);
}

Tensor ResNet::forward(const Tensor& x) {
  Tensor h = relu(bn1(conv1(x)));
  if (!options_.cifar) h = max_pool(h, {.kernel = 3, .stride = 2, .padding = 1});
  for (Sequential& stage : stages) h = stage(h);
  return fc(mean(h, {2, 3}));
}

ResNetOptions resnet18() { return {}; }
ResNetOptions resnet34() { return {.blocks = {3, 4, 6, 3}}; }
ResNetOptions resnet50() { return {.blocks = {3, 4, 6, 3}, .bottleneck = true}; }

namespace models {
namespace {

constexpr const char* kNames[] = {"resnet18", "resnet34", "resnet50"};

template <ResNetOptions (*options)(), std::size_t number>
std::unique_ptr<Layer> build(const Options& o, const TensorType& x) {
  ResNetOptions r = options();
  r.channels = image_channels(kNames[number], x);
  r.classes = o.at<std::int64_t>("classes");
  r.width = o.at<std::int64_t>("width");
  r.cifar = o.at<std::string>("stem") == "cifar";
  if (!r.cifar && o.at<std::string>("stem") != "imagenet")
    throw Error(fmt::format("{}: stem must be \"imagenet\" or \"cifar\", got \"{}\"", kNames[number],
                            o.at<std::string>("stem")));
  return std::make_unique<ResNet>(r, kNames[number]);
}

template <ResNetOptions (*options)(), std::size_t number>
LayerDef def(const char* doc) {
  return {kNames[number],
          doc,
          {{"classes", OptionType::integer, std::int64_t{1000}},
           {"stem", OptionType::text, std::string("imagenet")},
           {"width", OptionType::integer, std::int64_t{64}}},
          build<options, number>};
}

}  // namespace

const LayerDef& resnet18_def() {
  static const LayerDef made = def<resnet18, 0>("ResNet-18 of images [B, C, H, W]");
  return made;
}
const LayerDef& resnet34_def() {
  static const LayerDef made = def<resnet34, 1>("ResNet-34 of images [B, C, H, W]");
  return made;
}
const LayerDef& resnet50_def() {
  static const LayerDef made = def<resnet50, 2>("ResNet-50 of images [B, C, H, W]");
  return made;
}

}  // namespace models
}  // namespace tightloop::nn
