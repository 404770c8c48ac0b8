// SPDX-License-Identifier: Apache-2.0
// Generated products whose operands lie in memory as bf16 or f16, compiled against interpreted.
#include <tests/support/compare.h>
#include <tightloop/backends/cpu/plan/windows.h>
#include <tightloop/ops/build.h>
#include <tightloop/ops/functions_spatial.h>
#include <tightloop/passes/differentiate.h>

namespace tightloop {
namespace {

using testing::random_array;
using testing::Tolerance;

struct LowCase {
  DType a, b;
  Shape a_shape, b_shape;
  bool transpose_a = false, transpose_b = false;
};

std::vector<LowCase> cases() {
  const Dim batch = Dim::batch();
  std::vector<LowCase> out;
  for (const DType low : {DType::bf16, DType::f16})
    for (const auto& [a, b] : {std::pair{low, low}, {low, DType::f32}, {DType::f32, low}}) {
      out.push_back({a, b, {batch, 17}, {17, 3}});
      out.push_back({a, b, {batch, 40}, {40, 96}});
      out.push_back({a, b, {batch, 40}, {70, 40}, false, true});
      out.push_back({a, b, {batch, 24}, {batch, 70}, true, false});
      out.push_back({a, b, {batch, 3, 5}, {batch, 5, 33}});
      out.push_back({a, b, {60, 40}, {40, 600}});
    }
  return out;
}

/// y = a · b, and y rounded to a's type where that is a low one.
ir::Graph product(const LowCase& c) {
  const Tensor a = input("a", "argument", {c.a, c.a_shape}), b = input("b", "argument", {c.b, c.b_shape});
  const Tensor y = ops::matmul_node(cast(a, DType::f32), cast(b, DType::f32), c.transpose_a, c.transpose_b);
  return {"g", {a, b}, {{"y", y}, {"low", cast(y * 2.0, c.a)}}};
}

TEST(LowOperands, AgreeWithTheInterpreter) {
  for (const LowCase& c : cases()) {
    const ir::Graph g = product(c);
    testing::Compiled one(g, 1), two(g, 2), narrow(g, 1, 32), narrowest(g, 2, 16);
    for (const std::int64_t batch : {1, 130}) {
      const Sizes sizes{batch, batch};
      const std::vector<Array> inputs{random_array(c.a, c.a_shape.values(sizes), -2, 2, 1),
                                      random_array(c.b, c.b_shape.values(sizes), -2, 2, 2)};
      const auto want = backends::interpret(g, inputs, {.sizes = sizes});
      const auto got = one.run(inputs, sizes, 0, 0);
      for (auto* other : {&two, &narrow, &narrowest}) {
        const auto same = other->run(inputs, sizes, 0, 0);
        testing::expect_same({"g", g.inputs, {g.outputs[0]}}, {same[0]}, {want[0]}, {});
      }
      testing::expect_same({"g", g.inputs, {g.outputs[0]}}, {got[0]}, {want[0]}, {});
      Tolerance rounding;
      rounding.relative = std::max(rounding.relative, c.a == DType::f32 ? 0.0 : 0x1p-7);
      testing::expect_same({"g", g.inputs, {g.outputs[1]}}, {got[1]}, {want[1]}, rounding);
      const auto again = two.run(inputs, sizes, 0, 0);
      for (std::size_t o = 0; o < got.size(); ++o) EXPECT_TRUE(identical(got[o], again[o])) << ir::print(g);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// y = convolution of x with w, and both gradients of sum(y · up); what is read is rounded.
ir::Graph convolved(DType low, const Shape& x_shape, const Shape& w_shape) {
  const Tensor x = input("x", "argument", {low, x_shape}), w = input("w", "argument", {low, w_shape});
  const Tensor wide_x = cast(x, DType::f32), wide_w = cast(w, DType::f32);
  const Tensor y = convolution(wide_x, wide_w, {.padding = {1, 1}});
  const Tensor up = input("up", "argument", {low, y.shape()});
  const std::vector<Tensor> g = gradients(sum(y * cast(up, DType::f32)), {wide_x, wide_w});
  return {"g", {x, w, up}, {{"y", y}, {"gx", g[0]}, {"gw", g[1]}}};
}

TEST(LowOperands, TheLibrarysConvolutionsReadThem) {
  for (const DType low : {DType::bf16, DType::f16}) {
    const Shape x{Dim::batch(), 16, 13, 13}, w{32, 16, 3, 3};
    const ir::Graph g = convolved(low, x, w);
    testing::Compiled one(g, 1), two(g, 2);
    for (const std::int64_t batch : {1, 5}) {
      const Sizes sizes{batch, batch};
      std::vector<Array> inputs;
      for (std::size_t i = 0; i < 3; ++i)
        inputs.push_back(random_array(low, g.inputs[i].shape().values(sizes), -1, 1, i + 1));
      const auto want = backends::interpret(g, inputs, {.sizes = sizes});
      const auto got = one.run(inputs, sizes, 0, 0), again = two.run(inputs, sizes, 0, 0);
      Tolerance t;
      t.relative = 1e-4;
      testing::expect_same(g, got, want, t);
      for (std::size_t o = 0; o < got.size(); ++o) EXPECT_TRUE(identical(got[o], again[o]));
    }
  }
}

}  // namespace
}  // namespace tightloop
