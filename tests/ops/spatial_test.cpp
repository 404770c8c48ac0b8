// SPDX-License-Identifier: Apache-2.0
// Convolutions and pooling as functions: known values, and what is refused.
#include <tightloop/ops/functions_spatial.h>
#include <tightloop/passes/differentiate.h>

#include <tests/ops/sample_graph.h>
#include <tests/support/files.h>

#include <gtest/gtest.h>

#include <limits>

namespace tightloop {
namespace {

using testing::value;
using Values = std::vector<double>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor tensor(std::vector<std::int64_t> dims, const Values& values) {
  return Tensor(Array::of<double>(std::move(dims), std::span<const double>(values)));
}

Values numbers(const Tensor& t) {
  const Array a = value(t);
  Values out;
  for (std::int64_t i = 0; i < a.count(); ++i) out.push_back(a.at(i));
  return out;
}

TEST(Convolution, IsACrossCorrelation) {
  const Tensor x = tensor({1, 1, 5}, {1, 2, 3, 4, 5}), w = tensor({1, 1, 2}, {1, 10});
  EXPECT_EQ(numbers(convolution(x, w)), (Values{21, 32, 43, 54}));
  EXPECT_EQ(numbers(convolution(x, w, {.stride = 2, .padding = 1})), (Values{10, 32, 54}));
  EXPECT_EQ(numbers(convolution(x, w, {.padding = 0, .padding_after = 1, .dilation = 2})),
            (Values{31, 42, 53, 4}));
}

TEST(Convolution, TransposedSpreadsTheKernel) {
  const Tensor x = tensor({1, 1, 3}, {1, 2, 3}), w = tensor({1, 1, 2}, {1, 10});
  EXPECT_EQ(numbers(conv_transpose(x, w)), (Values{1, 12, 23, 30}));
  EXPECT_EQ(numbers(conv_transpose(x, w, {.stride = 2, .output_padding = 1})),
            (Values{1, 10, 2, 20, 3, 30, 0}));
  EXPECT_EQ(numbers(conv_transpose(x, w, {.stride = 1, .padding = 0, .output_padding = 1, .dilation = 2})),
            (Values{1, 2, 13, 20, 30, 0}));
  EXPECT_EQ(numbers(conv_transpose(x, w, {.padding = 1, .output_padding = 1, .dilation = 2})),
            (Values{2, 13, 20, 30}));
}

TEST(Convolution, ComputesIntegersAndHalvesInFloat) {
  const Tensor x = cast(tensor({1, 1, 3}, {1, 2, 3}), DType::u8),
               w = cast(tensor({1, 1, 1}, {0.5}), DType::bf16);
  EXPECT_EQ(convolution(x, w).dtype(), DType::f32);
  EXPECT_EQ(numbers(convolution(x, w)), (Values{0.5, 1, 1.5}));
}

TEST(PadSpatial, RepeatsMirrorsAndWraps) {
  const Tensor x = tensor({1, 1, 4}, {1, 2, 3, 4});
  EXPECT_EQ(numbers(pad_spatial(x, 1, 2, PaddingMode::zeros)), (Values{0, 1, 2, 3, 4, 0, 0}));
  EXPECT_EQ(numbers(pad_spatial(x, 3, 2, PaddingMode::reflect)), (Values{4, 3, 2, 1, 2, 3, 4, 3, 2}));
  EXPECT_EQ(numbers(pad_spatial(x, 1, 5, PaddingMode::replicate)), (Values{1, 1, 2, 3, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(numbers(pad_spatial(x, 2, 4, PaddingMode::circular)), (Values{3, 4, 1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_ERROR(pad_spatial(x, 4, 0, PaddingMode::reflect), "padding must be at most 3 for 4 elements, got 4");
}

TEST(MaxPool, NeverTakesPaddingAndLetsNaNOut) {
  EXPECT_EQ(
      numbers(max_pool(tensor({1, 1, 2, 2}, {-1, -1, -1, -1}), {.kernel = 2, .stride = 2, .padding = 1})),
      (Values{-1, -1, -1, -1}));
  const Values y = numbers(max_pool(tensor({1, 1, 6}, {1, kNaN, 3, 7, 5, -kInfinity}), {.kernel = 2}));
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 7);
  EXPECT_EQ(y[2], 5);
  EXPECT_EQ(numbers(max_pool(tensor({1, 1, 2}, {-kInfinity, -kInfinity}), {.kernel = 2})),
            (Values{-kInfinity}));
}

TEST(MaxPool, GivesTheGradientToTheFirstMaximum) {
  const Tensor x = tensor({1, 1, 5}, {2, 2, 1, 2, 2});
  const Tensor y = max_pool(x, {.kernel = 3, .stride = 1});
  EXPECT_EQ(numbers(gradients(sum(y * y), {x})[0]), (Values{4, 4, 0, 4, 0}));
}

TEST(MaxPool, RefusesWindowsOfPaddingAlone) {
  const Tensor x = tensor({1, 1, 4}, {1, 2, 3, 4});
  EXPECT_ERROR(max_pool(x, {.kernel = 2, .padding = 2}),
               "max_pool: padding must be at most half the kernel (2)");
  EXPECT_ERROR(avg_pool(x, {.kernel = 3, .padding = 2}),
               "avg_pool: padding must be at most half the kernel (3)");
  EXPECT_ERROR(max_pool(x, {.kernel = 7, .padding = 1}), "a window of 7 does not fit into spatial dim 0");
  EXPECT_ERROR(max_pool(x, {.kernel = {2, 2}}), "kernel must be one number or 1, got (2, 2)");
  EXPECT_ERROR(max_pool(x, {.kernel = 0}), "kernel must be 1 or greater, got 0");
  EXPECT_ERROR(max_pool(tensor({1, 1, 1}, {1}), {.kernel = 2, .padding = 1, .dilation = 2}),
               "nothing but padding");
}

TEST(AvgPool, CountsPaddingOrNot) {
  const Tensor x = tensor({1, 1, 3}, {2, 4, 8});
  EXPECT_EQ(numbers(avg_pool(x, {.kernel = 2, .stride = 2, .padding = 1})), (Values{1, 6}));
  EXPECT_EQ(numbers(avg_pool(x, {.kernel = 2, .stride = 2, .padding = 1, .count_include_pad = false})),
            (Values{2, 6}));
  EXPECT_EQ(numbers(avg_pool(x, {.kernel = 2, .stride = 2, .ceil_mode = true})), (Values{3, 8}));
}

TEST(AdaptivePool, MeetsTheSizeAskedFor) {
  const Tensor x = tensor({1, 1, 5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(numbers(adaptive_avg_pool(x, 2)), (Values{2, 4}));
  EXPECT_EQ(numbers(adaptive_max_pool(x, 2)), (Values{3, 5}));
  EXPECT_EQ(numbers(adaptive_avg_pool(x, 1)), (Values{3}));
  EXPECT_EQ(numbers(adaptive_avg_pool(x, 5)), (Values{1, 2, 3, 4, 5}));
  EXPECT_EQ(numbers(adaptive_max_pool(x, 7)), (Values{1, 2, 3, 3, 4, 5, 5}));
}

}  // namespace
}  // namespace tightloop
