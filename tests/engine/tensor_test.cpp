// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tests/support/files.h>
#include <tightloop/engine/evaluate.h>
#include <tightloop/engine/print.h>
#include <tightloop/ops/functions.h>

#include <sstream>

namespace tightloop {
namespace {

Tensor vector(std::initializer_list<float> values) {
  return Array::of<float>({static_cast<std::int64_t>(values.size())}, values);
}

TEST(Tensor, ReadingRunsWhatItNeeds) {
  const Tensor y = sum(vector({1, 2, 3}) * 2.0);
  EXPECT_EQ(y.item(), 12);
  EXPECT_EQ(&y.array(), &y.array());
  const Tensor z = y + 1.0;
  EXPECT_EQ(z.item(), 13);
}

TEST(Tensor, LargeGraphsGiveTheSame) {
  const Tensor x = iota({1200, 1200}, 1, DType::f32) * 0.001;
  const Tensor y = sum(x + Tensor(Array::scalar(1.0f)));
  EXPECT_NEAR(y.item(), 1200 * (1200 + 0.001 * 1199 * 600), 100);
  EXPECT_NEAR(sum(x + Tensor(Array::scalar(2.0f))).item(), 1200 * (2400 + 0.001 * 1199 * 600), 100);
}

TEST(Tensor, SeveralAtOnce) {
  const Tensor x = vector({1, 2});
  const Tensor a = x + 1.0;
  const Tensor b = a * a;
  evaluate({a, b, x});
  EXPECT_NE(a.node().value, nullptr);
  EXPECT_EQ(b.array().at(1), 9);
}

TEST(Tensor, AnInputHasNoValue) {
  const Tensor x = input("x", "argument", {DType::f32, {3}});
  EXPECT_ERROR((x + 1.0).array(), "depends on the input 'x'");
  EXPECT_ERROR(size(Dim::batch()).item(), "a dim that only a run knows");
  EXPECT_FALSE(can_evaluate(x * 2.0));
  EXPECT_TRUE(can_evaluate(vector({1})));
}

TEST(Tensor, ItemWantsOneElement) { EXPECT_ERROR(vector({1, 2}).item(), "f32[2], not a single element"); }

TEST(Tensor, LongChainsAreReadAndFreed) {
  Tensor t = Array::scalar(0.0);
  for (int i = 0; i < 200000; ++i) t = t + 1.0;
  EXPECT_EQ(t.item(), 200000);
}

TEST(Print, AsNumPyDoes) {
  EXPECT_EQ(to_string(Array::of<float>({2, 2}, {1, -2.5, 100, 0.125})), "[[    1,  -2.5],\n [  100, 0.125]]");
  EXPECT_EQ(to_string(Array::scalar(0.1)), "0.1");
  EXPECT_EQ(to_string(Array::of<std::int64_t>({3}, {1, 20, -3})), "[ 1, 20, -3]");
  EXPECT_EQ(to_string(Array::of<bool>({2}, {true, false})), "[ true, false]");
  EXPECT_EQ(to_string(Array(DType::f32, {0, 3})), "[]");
  EXPECT_EQ(to_string(iota({2000}, 0).array()), "[   0,    1,    2, ..., 1997, 1998, 1999]");
}

TEST(Print, TensorsSayTheirType) {
  std::ostringstream out;
  out << vector({1, 2}) + 0.5;
  EXPECT_EQ(out.str(), "[1.5, 2.5] f32[2]");
  EXPECT_EQ(to_string(input("x", "argument", {DType::f32, {Dim::batch()}}) + 1.0), "<add of f32[B]>");
  EXPECT_EQ(to_string(Tensor()), "empty Tensor");
}

}  // namespace
}  // namespace tightloop
