// SPDX-License-Identifier: Apache-2.0
// A forward text as a module: which layers and models it makes, and how their parameters are called.
#include <tests/support/files.h>
#include <tightloop/train/forward_model.h>

#include <gtest/gtest.h>

namespace tightloop::train {
namespace {

ForwardModel model_of(const std::string& text) {
  Job::Model job;
  job.forward = {text, "job.toml", 0, 1};
  return ForwardModel(job, {{"image", {DType::f32, {Dim::batch(), 28, 28}}}});
}

TEST(ForwardModel, CallsConvolutionsAndModelsByName) {
  ForwardModel model = model_of(
      "h = conv2d(unsqueeze(image, 1), 3, [1, 3], padding=\"same\", name=\"c\")\n"
      "y = lenet5(max_pool2d(h, [1, 1]), classes=4)");
  std::vector<std::string> paths;
  for (const auto& p : model.state_dict()) paths.push_back(p.path + " " + to_string(p.parameter->type()));
  ASSERT_EQ(paths.size(), 12U);
  EXPECT_EQ(paths[0], "c.weight f32[3, 1, 1, 3]");
  EXPECT_EQ(paths[1], "c.bias f32[3]");
  EXPECT_EQ(paths[2], "lenet50.conv1.weight f32[6, 3, 5, 5]");
  EXPECT_EQ(paths[11], "lenet50.fc3.bias f32[4]");
  EXPECT_EQ(to_string(model.output()), "f32[B, 4]");
}

TEST(ForwardModel, SaysWhereALayerDoesNotFit) {
  EXPECT_ERROR(model_of("y = conv2d(image, 3, 3)"), "job.toml:1:5: conv2d: x must be floating [B, C, H, W]");
  EXPECT_ERROR(model_of("y = max_pool1d(image, 3, padding=2)"),
               "padding must be at most half the kernel (3)");
  EXPECT_ERROR(model_of("y = conv1d(image, 3, 3, padding=[1, \"same\"])"), "a list of numbers was expected");
  EXPECT_ERROR(model_of("y = lenet(image)"), "did you mean 'lenet5'?");
}

}  // namespace
}  // namespace tightloop::train
