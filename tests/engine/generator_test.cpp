// SPDX-License-Identifier: Apache-2.0
// Generator: new numbers at every draw and every call, the same for a seed; distributions; what it refuses.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/engine/generator.h>
#include <tightloop/engine/loop.h>
#include <tightloop/ops/functions.h>

#include <map>

namespace tightloop {
namespace {

class GeneratorTest : public ::testing::TestWithParam<CompileOptions> {
 protected:
  FunctionOptions options() const { return {.compile = GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Backends, GeneratorTest, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

TEST_P(GeneratorTest, DrawsAnewInEveryCallAsOutsideATrace) {
  const Generator traced(7), plain(7);
  auto draw = compile(
      [&] {
        const Tensor first = traced.uniform({4}), second = traced.uniform({4}, -1, 3);
        return std::make_pair(first, second);
      },
      options());
  Array before(DType::f32, {4});
  for (int call = 0; call < 3; ++call) {
    const auto [a, b] = draw();
    EXPECT_TRUE(identical(a.array(), plain.uniform({4}).array()));
    testing::expect_close(b.array(), plain.uniform({4}, -1, 3).array(), 1e-6, 1e-6);
    EXPECT_FALSE(identical(a.array(), before));
    before = a.array();
  }
  EXPECT_EQ(traced.states()[1].array().int_at(0), 6);
}

TEST_P(GeneratorTest, ASeedRepeatsWithoutANewTrace) {
  const Generator random(1);
  auto draw = compile([&] { return random.normal({5}); }, options());
  const Array first = draw().array();
  random.reseed(2);
  EXPECT_FALSE(identical(draw().array(), first));
  random.reseed(1);
  EXPECT_TRUE(identical(draw().array(), first));
  EXPECT_EQ(draw.programs().size(), 1u);
}

TEST_P(GeneratorTest, IntegersAreEquallyLikelyAndInRange) {
  const Generator random(3);
  auto draw = compile([&] { return random.integers({6000}, -1, 2); }, options());
  std::map<std::int64_t, int> counts;
  const Array drawn = draw().array();
  for (std::int64_t i = 0; i < drawn.count(); ++i) ++counts[drawn.int_at(i)];
  ASSERT_EQ(counts.size(), 3u);
  for (const std::int64_t value : {-1, 0, 1}) EXPECT_NEAR(counts[value], 2000, 150);
}

TEST_P(GeneratorTest, CategoricalFollowsTheLogits) {
  const Generator random(4);
  auto draw = compile(
      [&](Tensor logits) {
        return random.categorical(broadcast_to(logits, {8000, 3}));
      },
      options());
  // Probabilities 0.7, 0.2, 0.1.
  const Array drawn = draw(log(Tensor(Array::of<float>({3}, {7, 2, 1})))).array();
  EXPECT_EQ(drawn.type_string(), "i64[8000]");
  std::array<int, 3> counts{};
  for (std::int64_t i = 0; i < drawn.count(); ++i) ++counts.at(static_cast<std::size_t>(drawn.int_at(i)));
  EXPECT_NEAR(counts[0], 5600, 170);
  EXPECT_NEAR(counts[1], 1600, 150);
  EXPECT_NEAR(counts[2], 800, 120);
}

TEST_P(GeneratorTest, NeverDrawsWhatIsImpossible) {
  const Generator random(5);
  const float none = -std::numeric_limits<float>::infinity();
  auto draw = compile([&](Tensor logits) { return random.categorical(logits); }, options());
  Array logits(DType::f32, {500, 2});
  for (std::int64_t i = 0; i < 500; ++i) logits.set(2 * i + i % 2, none);
  const Array drawn = draw(logits).array();
  for (std::int64_t i = 0; i < 500; ++i) EXPECT_EQ(drawn.int_at(i), 1 - i % 2);
}

TEST_P(GeneratorTest, DrawsForEachRowOfABatchInALoop) {
  const Generator random(6);
  auto f =
      loop([&](Tensor x) { return mean(random.normal(x.shape())); }, {.batch = 50, .compile = GetParam()});
  const Array data(DType::f32, {200, 10});
  EXPECT_NEAR(f.run(8, data).item(), 0, 0.08);
  EXPECT_NE(f.run(1, data).item(), f.run(1, data).item());
}

TEST(GeneratorErrors, AreSaid) {
  const Generator random;
  EXPECT_ERROR(random.integers({1}, 3, 3), "low must be below high");
  EXPECT_ERROR(random.integers({1}, 0, std::int64_t{1} << 40), "at most 2^32 away");
  EXPECT_ERROR(random.categorical(zeros({3}, DType::i64)), "must be f32 or f64 [..., classes], got i64[3]");
  EXPECT_ERROR(random.categorical(zeros({})), "got f32[]");
}

}  // namespace
}  // namespace tightloop
