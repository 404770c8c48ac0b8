// SPDX-License-Identifier: Apache-2.0
// Per-sample gradients, Jacobians, Hessians and products of a small classifier against torch.func.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tightloop/engine/functional.h>
#include <tightloop/nn/losses.h>
#include <tightloop/nn/module.h>

namespace tightloop {
namespace {

using testing::Case;
using testing::expect_close;
using Parts = std::vector<Tensor>;  // in.weight, in.bias, out.weight, out.bias

const char* const kNames[] = {"in.weight", "in.bias", "out.weight", "out.bias"};

Parts parts(const Case& c, const std::string& prefix) {
  Parts out;
  for (const char* name : kNames) out.emplace_back(c.at(prefix + "." + name));
  return out;
}

Tensor network(const Parts& p, const Tensor& x) {
  return matmul_transposed(tanh(matmul_transposed(x, p[0]) + p[1]), p[2]) + p[3];
}

/// One sample or several.
Tensor loss_of(const Parts& p, const Tensor& x, const Tensor& target) {
  return nn::cross_entropy(network(p, x), target);
}
Tensor one_loss(const Parts& p, const Tensor& x, const Tensor& target) {
  return loss_of(p, unsqueeze(x, 0), unsqueeze(target, 0));
}

class TorchFunc : public ::testing::TestWithParam<CompileOptions> {
 protected:
  template <class Fn>
  auto compiled(Fn fn) {
    return compile(std::move(fn), {.compile = GetParam()});
  }
  void expect(const Case& c, const std::string& prefix, const Parts& got) {
    for (std::size_t i = 0; i < got.size(); ++i)
      expect_close(got[i].array(), c.at(prefix + "." + kNames[i]), 1e-12, 1e-13);
  }
  const Case c = testing::read_cases("functional").at(0);
  const Tensor x = c.at("x"), target = c.at("target"), direction = c.at("direction");
  const Parts p = parts(c, "value"), v = parts(c, "direction");
};

TEST_P(TorchFunc, PerSampleGradients) {
  expect(c, "per_sample", compiled(vmap<1, 2>(grad(one_loss)))(p, x, target));
}

TEST_P(TorchFunc, JacobiansAndHessiansOfEachSample) {
  expect_close(compiled(vmap<1>(jacrev<1>(network)))(p, x).array(), c.at("jacobian"), 1e-12, 1e-13);
  expect_close(compiled(vmap<1>(jacfwd<1>(network)))(p, x).array(), c.at("jacobian"), 1e-12, 1e-13);
  expect_close(compiled(vmap<1, 2>(hessian<1>(one_loss)))(p, x, target).array(), c.at("hessian"), 1e-11,
               1e-12);
}

TEST_P(TorchFunc, Products) {
  const auto [y, slope] = compiled([&](const Parts& at, const Tensor& input) {
    return jvp(network)(std::make_tuple(at, input), std::make_tuple(v, direction));
  })(p, x);
  expect_close(y.array(), c.at("value"), 1e-12, 1e-13);
  expect_close(slope.array(), c.at("jvp"), 1e-12, 1e-13);
  expect(c, "hvp", compiled([&](const Parts& at, const Parts& along) {
           return hvp([&](const Parts& q) { return loss_of(q, x, target); })(at, along);
         })(p, v));
}

/// The same network as a module.
struct Net : nn::Module {
  Parameter in_weight{{6, 3}, DType::f64}, in_bias{{6}, DType::f64}, out_weight{{4, 6}, DType::f64},
      out_bias{{4}, DType::f64};
  void fields(nn::Fields& f) override {
    f("in_weight", in_weight)("in_bias", in_bias)("out_weight", out_weight)("out_bias", out_bias);
  }
  Tensor operator()(const Tensor& x) { return network({in_weight, in_bias, out_weight, out_bias}, x); }
};

TEST_P(TorchFunc, ModulesToo) {
  Net net;
  for (std::size_t i = 0; i < p.size(); ++i) net.parameters()[i].parameter->assign(p[i].array());
  const auto one = [&](const Tensor& row, const Tensor& label) {
    return nn::cross_entropy(net(unsqueeze(row, 0)), unsqueeze(label, 0));
  };
  const auto all = [&](const Tensor& rows, const Tensor& labels) {
    return nn::cross_entropy(net(rows), labels);
  };
  expect(c, "per_sample", vmap(grad(one, net.variables()))(x, target));
  expect(c, "per_sample",
         compile(vmap(grad(one, net.variables())), {.batch = true, .compile = GetParam()})(x, target));
  expect(c, "hvp", compiled(hvp(all, net.variables()))(v, x, target));
  const auto [value, slopes] = value_and_grad(all, net.variables())(x, target);
  const Tensor mean_slope = mean(Tensor(c.at("per_sample.out.bias")), {0});
  expect_close(slopes[3].array(), mean_slope.array(), 1e-12, 1e-13);
  EXPECT_NEAR(value.item(), mean(vmap(one)(x, target)).item(), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Backends, TorchFunc, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace tightloop
