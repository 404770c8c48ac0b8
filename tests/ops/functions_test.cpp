// SPDX-License-Identifier: Apache-2.0
// Promotion, broadcasting, folding, symbolic dims, and the messages of the functions.
#include <tightloop/ops/build.h>
#include <tightloop/passes/differentiate.h>

#include <tests/ops/sample_graph.h>
#include <tests/support/files.h>

#include <gtest/gtest.h>

namespace tightloop {
namespace {

using testing::value;

const Dim kBatch = Dim::batch();
Tensor argument(TensorType type, const std::string& name = "x") {
  return input(name, "argument", std::move(type));
}
std::string type_of(const Tensor& t) { return to_string(t.type()); }
std::string op_of(const Tensor& t) { return std::string(t.node().op->name); }
Tensor of(std::initializer_list<double> x) {
  return Array::of<double>({static_cast<std::int64_t>(x.size())},
                           std::span<const double>(x.begin(), x.size()));
}

std::vector<double> numbers(const Tensor& t) {
  const Array a = value(t);
  std::vector<double> out;
  for (std::int64_t i = 0; i < a.count(); ++i) out.push_back(a.at(i));
  return out;
}
using Values = std::vector<double>;

TEST(Promotion, FollowsTheOrderOfTheTypes) {
  const DType order[] = {DType::boolean, DType::u8,   DType::i32, DType::i64,
                         DType::f16,     DType::bf16, DType::f32, DType::f64};
  for (std::size_t i = 0; i < std::size(order); ++i)
    for (std::size_t k = i; k < std::size(order); ++k) {
      const bool mixed = order[i] == DType::f16 && order[k] == DType::bf16;
      EXPECT_EQ(ops::promote(order[i], order[k]), mixed ? DType::f32 : order[k]);
      EXPECT_EQ(ops::promote(order[k], order[i]), mixed ? DType::f32 : order[k]);
    }
}

TEST(Promotion, OfTensorsAndNumbers) {
  const Tensor i32 = argument({DType::i32, {3}}), f64 = argument({DType::f64, {3}}),
               u8 = argument({DType::u8, {3}});
  const Tensor half = argument({DType::bf16, {3}}), flag = argument({DType::boolean, {3}});
  EXPECT_EQ(type_of(i32 + f64), "f64[3]");
  EXPECT_EQ(type_of(u8 * i32), "i32[3]");
  EXPECT_EQ(type_of(half + half), "f32[3]");
  EXPECT_EQ(type_of(flag + flag), "i64[3]");
  EXPECT_EQ(type_of(i32 * 2), "i32[3]");
  EXPECT_EQ(type_of(i32 * 0.5), "f32[3]");
  EXPECT_EQ(type_of(f64 * 0.5), "f64[3]");
  EXPECT_EQ(type_of(half * 0.5), "f32[3]");
  EXPECT_EQ(type_of(i32 / i32), "f32[3]");
  EXPECT_EQ(type_of(i32 / 2), "f32[3]");
  EXPECT_EQ(type_of(exp(i32)), "f32[3]");
  EXPECT_EQ(type_of(exp(half)), "f32[3]");
  EXPECT_EQ(type_of(sum(u8)), "i64[]");
  EXPECT_EQ(type_of(mean(u8)), "f32[]");
  EXPECT_EQ(type_of(floor(i32)), "i32[3]");
  EXPECT_EQ(type_of(i32 == 2), "bool[3]");
  EXPECT_EQ(type_of(flag == flag), "bool[3]");
  EXPECT_EQ(type_of(select(flag, i32, f64)), "f64[3]");
  EXPECT_EQ(type_of(matmul(argument({DType::u8, {2, 3}}), argument({DType::f32, {3, 4}}, "y"))), "f32[2, 4]");
}

TEST(Shapes, FollowTheSymbolicBatch) {
  const Tensor x = argument({DType::f32, {kBatch, 4, 3}});
  EXPECT_EQ(type_of(x + argument({DType::f32, {3}}, "b")), "f32[B, 4, 3]");
  EXPECT_EQ(type_of(x + argument({DType::f32, {kBatch, 1, 1}}, "b")), "f32[B, 4, 3]");
  EXPECT_EQ(type_of(flatten(x)), "f32[12B]");
  EXPECT_EQ(type_of(flatten(x, 1)), "f32[B, 12]");
  EXPECT_EQ(type_of(matmul_transposed(x, argument({DType::f32, {5, 3}}, "w"))), "f32[B, 4, 5]");
  EXPECT_EQ(type_of(matmul(x, argument({DType::f32, {3, 5}}, "w"))), "f32[B, 4, 5]");
  EXPECT_EQ(type_of(matmul(x, argument({DType::f32, {kBatch, 3, 5}}, "w"))), "f32[B, 4, 5]");
  EXPECT_EQ(type_of(mean(x, {0})), "f32[4, 3]");
  EXPECT_EQ(type_of(variance(x)), "f32[]");
  EXPECT_EQ(type_of(gather(argument({DType::f32, {9, 2}}, "t"), argument({DType::u8, {kBatch}}, "i"))),
            "f32[B, 2]");
  EXPECT_EQ(type_of(take_last(x, argument({DType::i64, {kBatch, 4}}, "i"))), "f32[B, 4]");
  EXPECT_EQ(type_of(one_hot(argument({DType::u8, {kBatch}}, "i"), 10)), "f32[B, 10]");
  EXPECT_EQ(type_of(squeeze(unsqueeze(x, -1), 3)), "f32[B, 4, 3]");
  EXPECT_EQ(type_of(transpose(x, 0, -1)), "f32[3, 4, B]");
}

TEST(Shapes, OfASymbolicMean) {
  testing::SampleGraph s;
  s.inputs = {argument({DType::f64, {kBatch, 3}})};
  s.values = {testing::draw(s.inputs[0].type(), -1, 1, 3)};
  const auto y = testing::run(s, {mean(s.inputs[0]), variance(s.inputs[0], {0}), sum(s.inputs[0])});
  EXPECT_NEAR(y[0].at(0), y[2].at(0) / 15, 1e-15);
  EXPECT_GT(y[1].at(0), 0);
}

TEST(Folding, NumbersNeedNoBroadcast) {
  const Tensor x = argument({DType::f32, {kBatch, 3}});
  const Tensor y = x * 0.5;
  EXPECT_EQ(op_of(y), "mul");
  EXPECT_EQ(op_of(y.node().inputs[1]), "constant");
  EXPECT_EQ(type_of(y.node().inputs[1]), "f32[B, 3]");
  EXPECT_EQ(op_of((x + scalar(2)).node().inputs[1]), "constant");
  EXPECT_EQ(op_of(reshape(ones({4}), {2, 2})), "constant");
  EXPECT_EQ(op_of(cast(ones({4}), DType::f64)), "constant");
  EXPECT_EQ(op_of(x / 4), "mul");
  EXPECT_EQ(op_of(x / 3), "div");
  EXPECT_EQ(op_of(pow(x, scalar(2))), "mul");
  EXPECT_EQ(cast(x, DType::f32).id(), x.id());
  EXPECT_EQ(reshape(x, {kBatch, 3}).id(), x.id());
  EXPECT_EQ(slice(x, 1, 0, 3).id(), x.id());
  EXPECT_EQ(permute(x, {0, 1}).id(), x.id());
}

TEST(Values, OfEdgeCases) {
  EXPECT_EQ(numbers(round(of({0.5, 1.5, 2.5, -0.5, -1.5}))), (Values{0, 2, 2, 0, -2}));
  EXPECT_EQ(numbers(iota({2, 3}, -1)), (Values{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(numbers(iota({2, 3}, 0, DType::f32)), (Values{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(numbers(slice(of({0, 1, 2, 3, 4, 5}), 0, 1, 100, 2)), (Values{1, 3, 5}));
  EXPECT_EQ(numbers(slice(of({0, 1, 2}), 0, 2, 1)), Values{});
  EXPECT_EQ(numbers(floor_div(Tensor(Array::of<std::int64_t>({3}, {-7, 7, 5})),
                              Tensor(Array::of<std::int64_t>({3}, {2, -2, 0})))),
            (Values{-4, -4, 0}));
  EXPECT_EQ(
      numbers(Tensor(Array::of<std::uint8_t>({2}, {250, 3})) + Tensor(Array::of<std::uint8_t>({2}, {10, 1}))),
      (Values{4, 4}));
  EXPECT_EQ(numbers(any(of({0, 0, 2}))), Values{1});
  EXPECT_EQ(numbers(all(of({0, 1, 2}))), Values{0});
  EXPECT_EQ(numbers(gather(of({5, 6, 7}), Tensor(Array::of<std::int64_t>({3}, {-9, 1, 9})))),
            (Values{5, 6, 7}));
  EXPECT_EQ(numbers(one_hot(Tensor(Array::of<std::uint8_t>({2}, {2, 9})), 3)), (Values{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(numbers(is_finite(of({1, INFINITY, NAN}))), (Values{1, 0, 0}));
  EXPECT_EQ(numbers(is_nan(of({1, INFINITY, NAN}))), (Values{0, 0, 1}));
  EXPECT_EQ(numbers(is_finite(iota({2}, 0))), (Values{1, 1}));
}

TEST(Values, OfLargeLogitsStayFinite) {
  const Tensor x(Array::of<float>({2, 3}, {10, 0, -100, 1000, 0, 0}));
  const Tensor target(Array::of<std::int64_t>({2}, {2, 1}));
  const Tensor loss = -take_last(log_softmax(x, -1), target);
  EXPECT_NEAR(value(loss).at(0), 110.0000454, 1e-5);
  EXPECT_EQ(value(loss).at(1), 1000);
  const Array g = value(gradients(sum(loss), {x})[0]);
  EXPECT_NEAR(g.at(0), 0.9999546, 1e-7);
  EXPECT_NEAR(g.at(1), 4.539787e-5, 1e-10);
  EXPECT_EQ(g.at(2), -1);
  EXPECT_EQ(g.at(3), 1);
  EXPECT_EQ(g.at(4), -1);
}

TEST(Values, OfGeluAndBinaryLogits) {
  const Tensor x(Array::of<float>({2}, {-1, -3}));
  EXPECT_NEAR(value(gelu(x)).at(0), -0.1586553, 1e-7);
  EXPECT_NEAR(value(gelu(x)).at(1), -0.0040497, 1e-7);
  EXPECT_NEAR(value(gelu(x, Gelu::tanh)).at(0), -0.1588080, 1e-7);
  EXPECT_NEAR(value(gelu(x, Gelu::tanh)).at(1), -0.0036374, 1e-7);
  EXPECT_NEAR(value(gradients(sum(gelu(x)), {x})[0]).at(0), -0.0833155, 1e-7);
  const Tensor z(Array::of<float>({3}, {0, -100, 16.7F}));
  EXPECT_EQ(value(-log_sigmoid(z)).at(1), 100);
  EXPECT_EQ(value(gradients(sum(-log_sigmoid(z)), {z})[0]).at(0), -0.5);
  EXPECT_EQ(value(gradients(sum(-log_sigmoid(z)), {z})[0]).at(1), -1);
  EXPECT_NEAR(value(softplus(z)).at(2), 16.7000001, 1e-5);
}

TEST(Random, IsAFunctionOfSeedStepStreamAndElement) {
  const auto word = [](std::int64_t v) { return Tensor(Array::scalar<std::int64_t>(v)); };
  const auto draw = [&](std::int64_t seed, std::int64_t step, std::int64_t stream) {
    return numbers(random_uniform({1000}, word(seed), word(step), stream));
  };
  EXPECT_EQ(draw(1, 2, 3), draw(1, 2, 3));
  EXPECT_NE(draw(1, 2, 3), draw(2, 2, 3));
  EXPECT_NE(draw(1, 2, 3), draw(1, 3, 3));
  EXPECT_NE(draw(1, 2, 3), draw(1, 2, 4));
  EXPECT_EQ(draw(1, 2, 3)[5], static_cast<double>(uniform_f32(philox_block(1, 3, 2, 1)[1])));
  double sum = 0, squares = 0;
  for (const double x : numbers(random_normal({10000}, word(5), word(0), 1))) sum += x, squares += x * x;
  EXPECT_NEAR(sum / 10000, 0, 0.03);
  EXPECT_NEAR(squares / 10000, 1, 0.05);
  double hits = 0;
  for (const double x : numbers(random_bernoulli({10000}, 0.3, word(5), word(0), 1))) hits += x;
  EXPECT_NEAR(hits / 10000, 0.3, 0.02);
  EXPECT_EQ(numbers(any(random_bernoulli({1000}, 0, word(5), word(0), 1))), Values{0});
  EXPECT_EQ(numbers(all(random_bernoulli({1000}, 1, word(5), word(0), 1))), Values{1});
}

TEST(Messages, NameTheFunctionTheRuleAndWhatCame) {
  const Tensor a = argument({DType::f32, {3, 1}}), b = argument({DType::f32, {4, 2}}, "b");
  EXPECT_ERROR(a + b, "add: shapes [3, 1] and [4, 2] do not broadcast: 3 against 4");
  EXPECT_ERROR(a + argument({DType::f32, {kBatch, 1}}, "c"), "3 against B");
  EXPECT_ERROR(matmul(a, b), "matmul: f32[3, 1] and f32[4, 2]");
  EXPECT_ERROR(matmul_transposed(a, b), "matmul_transposed: f32[3, 1] and f32[4, 2]");
  EXPECT_ERROR(reshape(a, {2}), "reshape: f32[3, 1] does not have the 2 elements of [2]");
  EXPECT_ERROR(broadcast_to(a, {3}), "broadcast_to: [3, 1] does not stretch to [3]");
  EXPECT_ERROR(sum(a, {2}), "sum: axis 2 is outside a tensor of rank 2");
  EXPECT_ERROR(sum(a, {0, -2}), "sum: an axis is named twice");
  EXPECT_ERROR(squeeze(a, 0), "squeeze: dim 0 of [3, 1] is 3, not 1");
  EXPECT_ERROR(permute(a, {0}), "permute: order [0]");
  EXPECT_ERROR(slice(argument({DType::f32, {kBatch}}), 0, 0, 1), "slice: axis 0 of [B] is symbolic");
  EXPECT_ERROR(slice(a, 0, 0, 1, 0), "slice: step 0 must be positive");
  EXPECT_ERROR(concat({}, 0), "concat: needs at least one");
  EXPECT_ERROR(stack({a, b}, 0), "stack: shapes differ: [3, 1] and [4, 2]");
  EXPECT_ERROR(gather(a, b), "gather: the index must be integer, not f32");
  EXPECT_ERROR(take_last(a, argument({DType::i64, {4}}, "i")), "take_last");
  EXPECT_ERROR(full({2}, 0.5, DType::i64), "full: 0.5");
  EXPECT_ERROR(full({2}, 300, DType::u8), "constant: value 300 is outside");
  EXPECT_ERROR(clamp(a, 1, 0), "clamp: low");
  EXPECT_ERROR(flatten(a, 1, 0), "flatten: axis 1 comes after axis 0");
}

}  // namespace
}  // namespace tightloop
