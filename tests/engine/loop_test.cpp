// SPDX-License-Identifier: Apache-2.0
// loop: batches, means, epochs and data that changes, against the same written out; what it refuses.
#include <tests/support/evaluate.h>
#include <tests/support/files.h>
#include <tightloop/engine/loop.h>
#include <tightloop/ops/functions.h>

#include <algorithm>
#include <set>

namespace tightloop {
namespace {

class LoopTest : public ::testing::TestWithParam<CompileOptions> {
 protected:
  LoopOptions options(std::int64_t batch, bool shuffle = false) const {
    return {.batch = batch, .shuffle = shuffle, .compile = GetParam()};
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, LoopTest, ::testing::ValuesIn(testing::backends()), testing::backend_name);

/// [rows, columns], counting.
Array counting(std::int64_t rows, std::int64_t columns, DType dtype = DType::f32) {
  Array a(dtype, {rows, columns});
  for (std::int64_t i = 0; i < a.count(); ++i) a.set(i, static_cast<double>(i));
  return a;
}

TEST_P(LoopTest, GivesTheMeanOfEachResultOverTheSteps) {
  auto watch = loop([](Tensor x) { return std::make_pair(sum(x), size(x.dim(0))); }, options(2));
  // Rows 0..4 in batches of 2, 2 and 1: sums 1, 5, 4.
  const auto [sums, sizes] = watch.run(3, counting(5, 1));
  EXPECT_FLOAT_EQ(static_cast<float>(sums.item()), 10.0f / 3);
  EXPECT_FLOAT_EQ(static_cast<float>(sizes.item()), 5.0f / 3);
  EXPECT_EQ(watch.run(1, counting(5, 1)).first.item(), 1) << "the second epoch begins";
  EXPECT_EQ(watch.run(1, counting(5, 1)).first.item(), 5) << "each call goes on";
  EXPECT_EQ(watch.step(), 5);
  watch.set_step(2);
  EXPECT_EQ(watch.run(1, counting(5, 1)).first.item(), 4);
  EXPECT_EQ(watch.steps_per_epoch(5), 3);
}

TEST_P(LoopTest, AShuffledEpochSeesEachRowOnce) {
  const Variable seen(Array(DType::i64, {7}), "seen");
  auto mark =
      loop([&](Tensor x) { seen.assign(seen.value() + scatter_add(x, ones(x.shape(), DType::i64), 7)); },
           options(3, true));
  Array rows(DType::i64, {7});
  for (std::int64_t i = 0; i < 7; ++i) rows.set_int(i, i);
  for (std::int64_t epoch = 1; epoch <= 3; ++epoch) {
    mark.run(3, rows);
    for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(seen.array().int_at(i), epoch);
  }
}

TEST_P(LoopTest, TrainsAsALoopOfCallsDoes) {
  const Array x = counting(6, 2), y = counting(6, 1);
  const auto weights = [] { return Variable(Array(DType::f32, {2, 1}), "w"); };
  const auto step_of = [](const Variable& w) {
    return [w](Tensor a, Tensor b) {
      auto error = [&](const Tensor& v) { return mean(square(matmul(a, v) - b)); };
      const auto [loss, slope] = value_and_grad(error)(w.value());
      w.assign(w.value() - 0.001 * slope);
      return loss;
    };
  };
  const Variable looped = weights(), called = weights();
  auto train = loop(step_of(looped), options(2));
  auto step = compile(step_of(called), {.compile = GetParam()});
  double total = 0;
  for (int i = 0; i < 9; ++i) {
    const std::int64_t at = i % 3;
    const auto part = [&](const Array& a, std::int64_t columns) {
      Array out(DType::f32, {2, columns});
      for (std::int64_t k = 0; k < out.count(); ++k) out.set(k, a.at(2 * at * columns + k));
      return out;
    };
    total += step(part(x, 2), part(y, 1)).item();
  }
  EXPECT_NEAR(train.run(9, x, y).item(), total / 9, 1e-5 * total);
  testing::expect_close(looped.array(), called.array(), 1e-6);
}

TEST_P(LoopTest, TracesOncePerSignatureWhateverTheRows) {
  int traces = 0;
  auto f = loop([&](Tensor x) { return ++traces, sum(x); }, options(0));
  EXPECT_EQ(f.run(1, counting(3, 1)).item(), 3);
  EXPECT_EQ(f.run(1, counting(4, 1)).item(), 6) << "batch 0 is all rows";
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(f.run(1, counting(3, 2)).item(), 15);
  EXPECT_EQ(traces, 2);
}

TEST_P(LoopTest, DataIsReadWhereItLiesInItsOwnType) {
  std::vector<std::uint8_t> mine(12, 1);
  auto f = loop([](Tensor x) { return x.dtype() == DType::u8 ? sum(cast(x, DType::f32)) : zeros({}); },
                options(0));
  const Array lent = Array::borrow(DType::u8, {4, 3}, mine.data());
  EXPECT_EQ(f.run(1, lent).item(), 12);
  mine[0] = 100;
  EXPECT_EQ(f.run(1, lent).item(), 111);
}

TEST_P(LoopTest, RunsWithoutDataAndReturnsWholeNumbersAsMeans) {
  const Variable n(Array::scalar(std::int64_t{0}), "n");
  auto count = loop(
      [&] {
        n.assign(n.value() + 1.0);
        return std::vector<Tensor>{n.value(), n.value() == 2.0};
      },
      options(32));
  const auto means = count.run(4);
  EXPECT_EQ(means[0].item(), 2.5);
  EXPECT_EQ(means[1].item(), 0.25);
  EXPECT_EQ(means[0].dtype(), DType::f32);
}

TEST_P(LoopTest, ALossThatIsLostShowsInTheMean) {
  auto f = loop([](Tensor x) { return log(sum(x)); }, options(1));
  Array x = counting(3, 1);
  x.set(1, -1);
  EXPECT_TRUE(std::isnan(f.run(3, x).item()));
}

TEST(LoopErrors, AreSaid) {
  auto f = loop([](Tensor x, Tensor y) { return mean(x + y); }, {.name = "fit"});
  const Array x = counting(3, 1);
  EXPECT_ERROR(f.run(0, x, x), "fit: the number of steps must be at least 1, not 0");
  EXPECT_ERROR(f.run(1, x, counting(4, 1)), "fit: all data must have as many rows, f32[3, 1] and f32[4, 1]");
  EXPECT_ERROR(f.run(1, x, Array::scalar(1.0f)), "fit: data needs a leading dim of rows, f32[] came");
  EXPECT_ERROR(f.run(1, counting(0, 1), counting(0, 1)), "fit: the data has no rows");
  auto wide = loop([](Tensor a) { return a; });
  EXPECT_ERROR(wide.run(1, x), "must not depend on the batch; return its mean or sum, not f32[B, 1]");
  EXPECT_ERROR(loop([] {}, {.batch = -1}), "the batch must be 1 or greater");
  auto inner = loop([](Tensor a) { return mean(a); });
  auto outer = compile([&](Tensor a) { return inner.run(1, a); });
  EXPECT_ERROR(outer(Tensor(x)), "cannot run inside a function that is being compiled");
}

}  // namespace
}  // namespace tightloop
