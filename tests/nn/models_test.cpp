// SPDX-License-Identifier: Apache-2.0
// The image models: what they hold, how they start, and what they refuse. Values are in
// models_fixture_test.cpp.
#include <tests/support/files.h>
#include <tightloop/nn/models/autoencoder.h>
#include <tightloop/nn/models/mobilenet_v2.h>
#include <tightloop/nn/models/model.h>
#include <tightloop/nn/models/resnet.h>
#include <tightloop/nn/models/vgg.h>

#include <cmath>
#include <sstream>

namespace tightloop::nn {
namespace {

TensorType images(std::int64_t channels, std::int64_t side) {
  return {DType::f32, Shape({Dim::batch(), channels, side, side})};
}

std::unique_ptr<Layer> model(const std::string& name, const TensorType& x, const Options& options = {}) {
  const LayerDef& def = *find_layer_or_model(name);
  return def.build(resolve(name, options, def.options), x);
}

Options options(const char* name, OptionValue value) {
  Options out;
  out.set(name, std::move(value));
  return out;
}

/// As in the fixture: a line for the model, then one for each state.
std::string listing(const std::string& name, Layer& layer) {
  std::string out = "== " + name + " " + std::to_string(layer.count()) + "\n";
  for (const auto& s : layer.state_dict()) out += s.path + " " + to_string(s.type().shape) + "\n";
  return out;
}

TEST(Models, HoldWhatTorchvisionsHold) {
  const std::string wanted = testing::content_of(testing::fixture("nn/model_states.txt"));
  std::istringstream lines(wanted);
  std::string all;
  int models = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("== ")) continue;
    const std::string name = line.substr(3, line.rfind(' ') - 3);
    all += listing(name, *model(name, images(3, 224)));
    ++models;
  }
  EXPECT_EQ(models, 7);
  EXPECT_EQ(all, wanted);
}

double deviation(Module& m, const std::string& path) {
  const Array a = m.parameter(path).array();
  double squares = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) squares += a.at(i) * a.at(i);
  return std::sqrt(squares / static_cast<double>(a.count()));
}

void expect_near(double got, double wanted) { EXPECT_NEAR(got, wanted, 0.1 * wanted); }

TEST(Models, StartAsTorchvisionsDo) {
  ResNet resnet({.cifar = true, .width = 32});
  resnet.initialize(1);
  expect_near(deviation(resnet, "layer4.1.conv2.weight"), std::sqrt(2.0 / (256 * 9)));
  expect_near(deviation(resnet, "layer2.0.downsample.0.weight"), std::sqrt(2.0 / 64));
  expect_near(deviation(resnet, "fc.weight"), 1 / std::sqrt(3.0 * 256));
  EXPECT_EQ(deviation(resnet, "layer3.0.bn2.weight"), 1);
  EXPECT_EQ(deviation(resnet, "layer3.0.bn2.bias"), 0);
  Vgg vgg({.layers = 13, .width = 16, .hidden = 64});
  vgg.initialize(1);
  expect_near(deviation(vgg, "features.22.weight"), std::sqrt(2.0 / (128 * 9)));
  EXPECT_EQ(deviation(vgg, "features.22.bias"), 0);
  expect_near(deviation(vgg, "classifier.0.weight"), 0.01);
  EXPECT_EQ(deviation(vgg, "classifier.6.bias"), 0);
  MobileNetV2 mobile({.width = 0.5});
  mobile.initialize(1);
  expect_near(deviation(mobile, "features.17.conv.1.0.weight"), std::sqrt(2.0 / (480 * 9)));
  expect_near(deviation(mobile, "classifier.1.weight"), 0.01);
  EXPECT_EQ(deviation(mobile, "classifier.1.bias"), 0);
}

TEST(Models, ResNetsRefuseWhatMakesNoNet) {
  EXPECT_ERROR(model("resnet18", {DType::f32, Shape({Dim::batch(), 32, 32})}),
               "resnet18: x must be images [B, C, H, W], got f32[B, 32, 32]");
  EXPECT_ERROR(model("resnet34", images(3, 32), options("classes", std::int64_t{0})),
               "resnet34: channels, classes, width and blocks must be 1 or greater, got 0");
  EXPECT_ERROR(ResNet({.blocks = {1, 0, 1, 1}}), "resnet: channels, classes, width and blocks");
  EXPECT_ERROR(model("resnet50", images(3, 32), options("stem", std::string("cifra"))),
               "resnet50: stem must be \"imagenet\" or \"cifar\", got \"cifra\"");
}

TEST(Models, VggsRefuseWhatMakesNoNet) {
  EXPECT_ERROR(model("vgg16_bn", {DType::f32, Shape({Dim::batch(), 3})}),
               "vgg16_bn: x must be images [B, C, H, W], got f32[B, 3]");
  EXPECT_ERROR(model("vgg11", images(3, 32), options("classes", std::int64_t{0})),
               "vgg11: channels, classes, width and hidden must be 1 or greater, got 0");
  EXPECT_ERROR(Vgg({.layers = 12}), "vgg: there are 11, 13, 16 or 19 layers, got 12");
}

TEST(Models, MobileNetsRefuseWhatMakesNoNet) {
  EXPECT_ERROR(model("mobilenet_v2", {DType::f32, Shape({Dim::batch(), 3, Dim::batch(), 8})}),
               "mobilenet_v2: x must be images [B, C, H, W]");
  EXPECT_ERROR(model("mobilenet_v2", images(3, 32), options("classes", std::int64_t{0})),
               "mobilenet_v2: channels and classes must be 1 or greater and width above 0, got 3, 0 and 1");
  EXPECT_ERROR(MobileNetV2({.width = std::nan("")}), "width above 0");
  EXPECT_ERROR(model("mobilenet_v2", images(3, 32), options("stem", std::string("small"))),
               "mobilenet_v2: stem must be \"imagenet\" or \"cifar\", got \"small\"");
}

TEST(Models, AutoencodersRefuseWhatMakesNoNet) {
  EXPECT_ERROR(model("autoencoder", {DType::f32, Shape({Dim::batch()})}),
               "autoencoder: x must be floating [B, features...], got f32[B]");
  EXPECT_ERROR(model("autoencoder", {DType::i64, Shape({Dim::batch(), 4})}),
               "autoencoder: x must be floating [B, features...], got i64[B, 4]");
  EXPECT_ERROR(model("autoencoder", images(1, 4), options("latent", std::int64_t{0})),
               "autoencoder: features, hidden and latent must be 1 or greater, got 0");
  EXPECT_ERROR(model("autoencoder", images(1, 4), options("hidden", Numbers{8, 2.5})),
               "autoencoder: hidden must be whole numbers, got 2.5");
}

TEST(Models, AutoencodersEncode) {
  Autoencoder net({.features = 12, .hidden = {5}, .latent = 2});
  net.initialize(1);
  const Tensor x(Array(DType::f32, {3, 4, 3}));
  EXPECT_EQ(net.encode(x).array().type_string(), "f32[3, 2]");
  EXPECT_EQ(net(x).array().type_string(), "f32[3, 4, 3]");
}

}  // namespace
}  // namespace tightloop::nn
