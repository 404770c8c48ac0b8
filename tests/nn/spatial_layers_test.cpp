// SPDX-License-Identifier: Apache-2.0
// Convolution and pooling layers: names, sizes and first values of parameters, and what they refuse.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/nn/models/model.h>
#include <tightloop/nn/nn.h>
#include <tightloop/passes/differentiate.h>

namespace tightloop::nn {
namespace {

using testing::error_of;

const TensorType kImage{DType::f32, Shape{Dim::batch(), 6, 8, 8}};

TEST(ConvLayers, HaveTheNamesAndShapesOfPyTorch) {
  Conv2d conv(6, 8, {3, 5}, {.groups = 2});
  const auto named = conv.state_dict();
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].path, "weight");
  EXPECT_EQ(named[0].parameter->dims(), (std::vector<std::int64_t>{8, 3, 3, 5}));
  EXPECT_EQ(named[1].path, "bias");
  EXPECT_EQ(named[1].parameter->dims(), (std::vector<std::int64_t>{8}));
  ConvTranspose1d up(6, 8, 4, {.groups = 2, .bias = false});
  ASSERT_EQ(up.state_dict().size(), 1U);
  EXPECT_EQ(up.weight.dims(), (std::vector<std::int64_t>{6, 4, 4}));
}

TEST(ConvLayers, StartWithinTheBoundOfTheirFan) {
  const auto within = [](Layer& layer, double bound) {
    layer.initialize(3);
    for (const auto& p : layer.parameters()) {
      const Array a = p.parameter->array();
      double most = 0;
      for (std::int64_t i = 0; i < a.count(); ++i) most = std::max(most, std::abs(a.at(i)));
      EXPECT_LE(most, bound) << p.path;
      EXPECT_GE(most, 0.8 * bound) << p.path;
    }
  };
  Conv2d conv(32, 64, 3, {.groups = 2});
  within(conv, 1 / std::sqrt(16.0 * 9));
  ConvTranspose2d up(64, 32, 3);
  within(up, 1 / std::sqrt(32.0 * 9));
}

TEST(ConvLayers, NameTheRuleAndWhatCame) {
  using Given = Options;
  const auto said = [](const char* name, const Given& options, const TensorType& x = kImage) {
    return error_of([&] {
      const auto layer = make_layer(name, options, x);
      layer->initialize(1);
      const ir::Scope scope("layer");
      (*layer)(input("x", "argument", x));
    });
  };
  const std::int64_t four = 4, three = 3;
  EXPECT_NE(said("conv2d", {{"out_channels", four}}).find("conv2d: 'kernel_size' is missing"),
            std::string::npos);
  EXPECT_NE(said("conv2d", {{"out_channels", four}, {"kernel_size", three}, {"groups", four}})
                .find("conv2d: groups must divide the channels (6 in, 4 out), got 4"),
            std::string::npos);
  EXPECT_NE(said("conv2d", {{"out_channels", four}, {"kernel_size", three}, {"padding", four}})
                .find("conv2d: padding 4 is larger than the kernel (3 with its dilation)"),
            std::string::npos);
  EXPECT_NE(
      said("conv2d",
           {{"out_channels", four}, {"kernel_size", three}, {"padding", "same"}, {"stride", Numbers{2, 2}}})
          .find("conv2d: padding 'same' needs stride 1, got (2, 2)"),
      std::string::npos);
  EXPECT_NE(said("conv2d", {{"out_channels", four}, {"kernel_size", three}, {"padding", "half"}})
                .find("'same' or 'valid', got 'half'"),
            std::string::npos);
  EXPECT_NE(said("conv2d", {{"out_channels", four}, {"kernel_size", std::int64_t{9}}})
                .find("a window of 9 does not fit into 8 elements"),
            std::string::npos);
  EXPECT_NE(said("conv1d", {{"out_channels", four}, {"kernel_size", three}})
                .find("conv1d: x must be floating [B, C, L]"),
            std::string::npos);
  EXPECT_NE(said("conv2d", {{"out_channels", four}, {"kernel_size", three}, {"padding_mode", "mirror"}})
                .find("padding_mode must be zeros, reflect, replicate or circular, got 'mirror'"),
            std::string::npos);
  EXPECT_NE(said("conv_transpose2d",
                 {{"out_channels", four}, {"kernel_size", three}, {"output_padding", std::int64_t{1}}})
                .find("output_padding must be less than stride or dilation, got 1"),
            std::string::npos);
  EXPECT_NE(said("max_pool2d", {{"kernel_size", three}, {"padding", std::int64_t{2}}})
                .find("padding must be at most half the kernel (3)"),
            std::string::npos);
  EXPECT_NE(
      said("max_pool2d", {{"kernel_size", Numbers{3, 2.5}}}).find("must be a whole number or a list of them"),
      std::string::npos);
  EXPECT_NE(said("adaptive_avg_pool2d", {{"output_size", std::int64_t{0}}})
                .find("size must be 1 or greater, got 0"),
            std::string::npos);
}

TEST(ConvLayers, PrintWhatTheyAre) {
  EXPECT_EQ(Conv2d(6, 8, {3, 5}, {.stride = 2, .padding = "valid", .groups = 2, .bias = false}).describe(),
            "Conv2d(6, 8, (3, 5), stride=2, padding=valid, groups=2, bias=false)");
  EXPECT_EQ(MaxPool2d(3).describe(), "MaxPool2d(3)");
  EXPECT_EQ(AdaptiveAvgPool2d({2, 3}).describe(), "AdaptiveAvgPool2d((2, 3))");
}

TEST(LeNet5, HasTheParametersOfThePaperWithFullConnections) {
  LeNet5 net;
  EXPECT_EQ(net.count(), 61706);
  EXPECT_EQ(net.state_dict()[2].path, "conv2.weight");
}

TEST(LeNet5, ClassifiesImagesOfBothSizesWithOrWithoutChannels) {
  const LayerDef& def = *find_layer_or_model("lenet5");
  const auto type_of = [&](const Shape& shape) {
    const TensorType x{DType::f32, shape};
    const auto net = def.build(resolve("lenet5", {{"classes", std::int64_t{7}}}, def.options), x);
    net->initialize(1);
    return to_string((*net)(input("x", "argument", x)).type());
  };
  EXPECT_EQ(type_of({Dim::batch(), 28, 28}), "f32[B, 7]");
  EXPECT_EQ(type_of({Dim::batch(), 3, 32, 32}), "f32[B, 7]");
  EXPECT_NE(error_of([&] {
              type_of({Dim::batch(), 30, 30});
            }).find("28 x 28 or 32 x 32, got 30 x 30"),
            std::string::npos);
  EXPECT_NE(error_of([&] { type_of({Dim::batch(), 28}); }).find("square images"), std::string::npos);
}

TEST(LeNet5, TrainsAlikeCompiledAndInterpreted) {
  LeNet5 net;
  net.initialize(1);
  Array images(DType::f32, {5, 28, 28});
  for (std::int64_t i = 0; i < images.count(); ++i)
    images.set(i, std::sin(0.37 * static_cast<double>(i * i % 1009)));
  const testing::Feed x{images, true};
  std::vector<std::vector<Array>> results;
  for (const auto& backend : testing::backends())
    results.push_back(testing::evaluate(backend, {x}, [&](const std::vector<Tensor>& in) {
      const Tensor y = net(in[0]);
      std::vector<Tensor> wrt;
      for (const auto& p : net.parameters()) wrt.push_back(p.parameter->value());
      std::vector<Tensor> out{y};
      for (const Tensor& g : gradients(sum(y * y), wrt)) out.push_back(g);
      return out;
    }));
  ASSERT_EQ(results[0].size(), results[1].size());
  for (std::size_t i = 0; i < results[0].size(); ++i)
    testing::expect_close(results[1][i], results[0][i], 1e-4, 1e-5);
}

}  // namespace
}  // namespace tightloop::nn
