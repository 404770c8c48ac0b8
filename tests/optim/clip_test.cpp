// SPDX-License-Identifier: Apache-2.0
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/optim/clip.h>

namespace tightloop::optim {
namespace {

template <class T>
Array array(std::vector<T> values) {
  return Array::of<T>({static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
}

class Clip : public ::testing::TestWithParam<CompileOptions> {
 protected:
  std::vector<Array> run(const std::vector<Array>& gradients, const testing::Function& clip) {
    std::vector<testing::Feed> feeds;
    for (const Array& g : gradients) feeds.push_back({g});
    return testing::evaluate(GetParam(), feeds, clip);
  }
  double norm(const std::vector<Array>& gradients) {
    return run(gradients, [](const auto& g) { return std::vector<Tensor>{global_norm(g)}; })[0].at(0);
  }
};

TEST_P(Clip, TheGlobalNormNeitherOverflowsNorVanishes) {
  EXPECT_DOUBLE_EQ(norm({array<float>({3}), array<float>({0, 4})}), 5);
  EXPECT_DOUBLE_EQ(norm({array<float>({3e38f, 0}), array<float>({3e38f})}) / (3e38 * std::sqrt(2.0)),
                   static_cast<double>(3e38f) / 3e38);
  EXPECT_GT(norm({array<float>({1e-30f})}), 0);
  EXPECT_NEAR(norm({array<double>({3e200}), array<double>({4e200})}) / 5e200, 1, 1e-12);
  EXPECT_NEAR(norm({array<double>({3e-200, 4e-200})}) / 5e-200, 1, 1e-12);
  EXPECT_EQ(norm({array<double>({0, 0})}), 0);
}

TEST_P(Clip, ScalesOnlyWhatIsLonger) {
  const auto clip = [](const std::vector<Tensor>& g) { return clip_by_global_norm(g, 1); };
  const auto out = run({array<float>({3}), array<float>({0, 4})}, clip);
  EXPECT_NEAR(out[0].at(0), 0.6, 1e-6);
  EXPECT_NEAR(out[1].at(1), 0.8, 1e-6);
  EXPECT_TRUE(identical(run({array<float>({.3f, .4f})}, clip)[0], array<float>({.3f, .4f})));
}

TEST_P(Clip, HoldsValues) {
  const auto out = run({array<float>({-3, 0.5f, 7, NAN})}, [](const auto& g) { return clip_by_value(g, 1); });
  testing::expect_close(out[0], array<float>({-1, 0.5f, 1, NAN}), 0);
}

INSTANTIATE_TEST_SUITE_P(Backends, Clip, ::testing::ValuesIn(testing::backends()), testing::backend_name);

TEST(ClipErrors, LimitsMustBePositive) {
  EXPECT_ERROR(clip_by_global_norm({zeros({2})}, 0), "max_norm must be greater than 0, got 0");
  EXPECT_ERROR(clip_by_value({zeros({2})}, -1), "limit must be greater than 0, got -1");
}

}  // namespace
}  // namespace tightloop::optim
