// SPDX-License-Identifier: Apache-2.0
// A BatchNorm that evaluates is folded into the convolution before it: the same results as without the pass,
// by fewer operations.
#include <tests/support/compare.h>
#include <tests/support/evaluate.h>
#include <tightloop/engine/compile.h>
#include <tightloop/nn/layers/batch_norm.h>
#include <tightloop/nn/layers/conv.h>
#include <tightloop/nn/layers/conv_transpose.h>
#include <tightloop/nn/layers/linear.h>

namespace tightloop::nn {
namespace {

using testing::expect_close;
using testing::random_array;

/// Statistics, scales and shifts as after some training.
void spread(Module& module) {
  module.initialize(7);
  std::uint64_t seed = 30;
  for (const NamedState& s : module.state_dict())
    if (s.type().dtype == DType::f32 && s.type().shape.rank() == 1)
      s.assign(random_array(DType::f32, s.type().shape.values({}), 0.3, 2, ++seed));
}

struct Count {
  int convolutions = 0;
  int elementwise = 0;  ///< operations on whole maps
};

struct Saved {
  int fewer = 0, left = 0;  ///< operations on whole maps
};

template <class Net>
Saved check(Net& net, const Array& x) {
  spread(net);
  Array results[2];
  Count counts[2];
  for (const bool folded : {false, true}) {
    CompileOptions options;
    if (!folded) options.passes.disabled = {"fold_scales"};
    auto f = compile([&](const Tensor& t) { return net(t); }, {.batch = true, .compile = options});
    results[folded] = f(Tensor(x)).array().clone();
    for (const ir::Node* n : ir::topological(f.programs().program(0).graph())) {
      counts[folded].elementwise +=
          n->op->kind == ir::OpKind::elementwise && !n->type.shape.is_static() ? 1 : 0;
      counts[folded].convolutions += n->op->name.starts_with("convolution") ? 1 : 0;
    }
  }
  expect_close(results[1], results[0], 2e-6, 2e-6);
  EXPECT_EQ(counts[0].convolutions, counts[1].convolutions);
  return {counts[0].elementwise - counts[1].elementwise, counts[1].elementwise};
}

template <class Convolution>
struct Folded final : Module {
  Folded(Convolution c, std::int64_t channels, BatchNormOptions options = {})
      : conv(std::move(c)), norm(channels, options) {}
  void fields(Fields& f) override { f("conv", conv)("norm", norm); }
  Tensor operator()(const Tensor& x) { return norm(conv(x)); }
  Convolution conv;
  BatchNorm norm;
};

TEST(FoldScales, OneSumIsLeftBehindAConvolution) {
  const Array image = random_array(DType::f32, {3, 4, 9, 8}, -1, 1, 1);
  const Array series = random_array(DType::f32, {3, 4, 40}, -1, 1, 1);
  Folded plain(Conv2d(4, 6, 3, {.padding = 1}), 6);
  Folded grouped(Conv2d(4, 6, 3, {.groups = 2, .bias = false}), 6);
  Folded bare(Conv2d(4, 6, 3, {.bias = false}), 6, {.affine = false});
  Folded line(Conv1d(4, 6, 5, {.dilation = 2}), 6);
  Folded turned(ConvTranspose2d(4, 6, 3, {.stride = 2, .groups = 2}), 6);
  const Saved saved[] = {check(plain, image), check(grouped, image), check(bare, image), check(line, series),
                         check(turned, image)};
  for (const Saved& n : saved) {
    EXPECT_GE(n.fewer, 1) << &n - saved;
    EXPECT_EQ(n.left, 1) << "one sum, net " << &n - saved;
  }
}

TEST(FoldScales, AProductKeepsItsEpilogue) {
  Folded net(Linear(5, 6), 6);
  EXPECT_EQ(check(net, random_array(DType::f32, {3, 5}, -1, 1, 1)).fewer, 0);
}

TEST(FoldScales, ALargeWeightOfASmallMapStays) {
  Folded net(Conv2d(4, 6, 3), 6);
  const Saved n = check(net, random_array(DType::f32, {3, 4, 3, 3}, -1, 1, 1));
  EXPECT_EQ(n.fewer, 1) << "bias and mean are one sum, the product is left";
}

struct Residual final : Module {
  void fields(Fields& f) override { f("c1", c1)("n1", n1)("c2", c2)("n2", n2); }
  Tensor operator()(const Tensor& x) {
    const Tensor h = n2(c2(relu(n1(c1(x)))));
    return relu(h + x);
  }
  Conv2d c1{4, 4, 3, {.padding = 1, .bias = false}}, c2{4, 4, 3, {.padding = 1, .bias = false}};
  BatchNorm2d n1{4}, n2{4};
};

TEST(FoldScales, ResidualBlocksKeepTheirShortcut) {
  Residual net;
  const Saved n = check(net, random_array(DType::f32, {2, 4, 12, 12}, -1, 1, 1));
  EXPECT_EQ(n.fewer, 4) << "a difference and a product each";
}

TEST(FoldScales, AConvolutionThatOthersReadStays) {
  struct Read final : Module {
    void fields(Fields& f) override { f("conv", conv)("norm", norm); }
    Tensor operator()(const Tensor& x) {
      const Tensor y = conv(x);
      return norm(y) * y;
    }
    Conv2d conv{4, 4, 3};
    BatchNorm2d norm{4};
  } net;
  EXPECT_EQ(check(net, random_array(DType::f32, {2, 4, 12, 12}, -1, 1, 1)).fewer, 0);
}

TEST(FoldScales, TheStateDictIsUntouched) {
  Folded net(Conv2d(4, 6, 3), 6);
  spread(net);
  const Array before = net.conv.weight.value().array().clone();
  auto f = compile([&](const Tensor& t) { return net(t); }, {.batch = true});
  f(Tensor(random_array(DType::f32, {3, 4, 9, 8}, -1, 1, 1))).array();
  expect_close(net.conv.weight.value().array(), before, 0, 0);
}

}  // namespace
}  // namespace tightloop::nn
