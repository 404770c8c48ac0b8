// SPDX-License-Identifier: Apache-2.0
// Values and gradients of the functions against PyTorch's (tests/fixtures/make_ops_fixtures.py).
#include <tightloop/passes/differentiate.h>

#include <tests/ops/sample_graph.h>
#include <tests/support/cases.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

namespace tightloop {
namespace {

using In = const std::vector<Tensor>&;
using Function = std::function<Tensor(In)>;

Function of(Tensor (*f)(Tensor)) {
  return [f](In x) { return f(x[0]); };
}
Function of(Tensor (*f)(Tensor, Tensor)) {
  return [f](In x) { return f(x[0], x[1]); };
}

const std::map<std::string, Function>& functions() {
  static const std::map<std::string, Function> all{
      {"relu", of(relu)},
      {"sigmoid", of(sigmoid)},
      {"log_sigmoid", of(log_sigmoid)},
      {"softplus", [](In x) { return softplus(x[0]); }},
      {"softplus 2 3", [](In x) { return softplus(x[0], 2, 3); }},
      {"silu", of(silu)},
      {"gelu", [](In x) { return gelu(x[0]); }},
      {"gelu tanh", [](In x) { return gelu(x[0], Gelu::tanh); }},
      {"leaky_relu", [](In x) { return leaky_relu(x[0], 0.2); }},
      {"elu", [](In x) { return elu(x[0], 1.3); }},
      {"selu", of(selu)},
      {"hardtanh", [](In x) { return hardtanh(x[0], -0.5, 0.5); }},
      {"relu6", of(relu6)},
      {"mish", of(mish)},
      {"hardswish", of(hardswish)},
      {"hardsigmoid", of(hardsigmoid)},
      {"softsign", of(softsign)},
      {"clamp", [](In x) { return clamp(x[0], -1, 3); }},
      {"clamp low", [](In x) { return clamp(x[0], -1, std::nullopt); }},
      {"exp", of(exp)},
      {"expm1", of(expm1)},
      {"sin", of(sin)},
      {"cos", of(cos)},
      {"tan", of(tan)},
      {"atan", of(atan)},
      {"sinh", of(sinh)},
      {"cosh", of(cosh)},
      {"tanh", of(tanh)},
      {"erf", of(erf)},
      {"abs", of(abs)},
      {"sign", of(sign)},
      {"floor", of(floor)},
      {"ceil", of(ceil)},
      {"round", of(round)},
      {"trunc", of(trunc)},
      {"square", of(square)},
      {"sqrt", of(sqrt)},
      {"rsqrt", of(rsqrt)},
      {"log", of(log)},
      {"log1p", of(log1p)},
      {"reciprocal", of(reciprocal)},
      {"square root by pow", [](In x) { return pow(x[0], scalar(0.5)); }},
      {"cube", [](In x) { return pow(x[0], scalar(3)); }},
      {"pow 2.5", [](In x) { return pow(x[0], scalar(2.5)); }},
      {"pow 4", [](In x) { return pow(x[0], scalar(4)); }},
      {"pow", of(pow)},
      {"atan2", of(atan2)},
      {"minimum", of(minimum)},
      {"maximum", of(maximum)},
      {"remainder", of(remainder)},
      {"floor_div", of(floor_div)},
      {"add row", of(add)},
      {"mul column", of(mul)},
      {"div outer", of(div)},
      {"select", [](In x) { return select(x[0] > x[1], x[0] * 2, x[1]); }},
      {"softmax", [](In x) { return softmax(x[0], -1); }},
      {"softmax of large", [](In x) { return softmax(x[0], -1); }},
      {"log_softmax", [](In x) { return log_softmax(x[0], -1); }},
      {"log_softmax 0", [](In x) { return log_softmax(x[0], 0); }},
      {"logsumexp", [](In x) { return logsumexp(x[0], {0}); }},
      {"logsumexp flat", [](In x) { return logsumexp(x[0], {0}); }},
      {"logsumexp keep",
       [](In x) {
         return logsumexp(x[0], {0, 1}, true);
       }},
      {"sum",
       [](In x) {
         return sum(x[0], {0, -1});
       }},
      {"mean", [](In x) { return mean(x[0], {1}, true); }},
      {"variance", [](In x) { return variance(x[0], {0}); }},
      {"variance 0",
       [](In x) {
         return variance(x[0], {0, 2}, 0, true);
       }},
      {"amax", [](In x) { return amax(x[0], {-1}); }},
      {"amin", [](In x) { return amin(x[0]); }},
      {"matmul", of(matmul)},
      {"matmul vectors", of(matmul)},
      {"matmul row", of(matmul)},
      {"matmul column", of(matmul)},
      {"matmul batch by matrix", of(matmul)},
      {"matmul matrix by batch", of(matmul)},
      {"matmul batches", of(matmul)},
      {"linear", of(matmul_transposed)},
      {"transposed",
       [](In x) {
         return permute(x[0], {2, 0, 1});
       }},
      {"sliced", [](In x) { return slice(x[0], 1, 1, 9, 3); }},
      {"sliced from the end", [](In x) { return slice(x[0], -1, -4, -1); }},
      {"concat",
       [](In x) {
         return concat({x[0], x[1]}, -1);
       }},
      {"stack",
       [](In x) {
         return stack({x[0], x[1]}, 1);
       }},
      {"pad",
       [](In x) {
         return pad(x[0], {3, 1}, {0, 2}, 0.5);
       }},
      {"argmax", [](In x) { return argmax(x[0], 1); }},
      {"argmin", [](In x) { return argmin(x[0], 0, true); }},
      {"argmax flat", [](In x) { return argmax(x[0], 0); }},
      {"argmin flat", [](In x) { return argmin(x[0], 0); }},
      {"gather", of(gather)},
      {"scatter_add", [](In x) { return scatter_add(x[1], x[0], 4); }},
      {"take_last", of(take_last)},
      {"one_hot", [](In x) { return one_hot(x[0], 4); }},
  };
  return all;
}

void expect_near(const std::string& what, const Array& got, const Array& want, double relative,
                 double absolute) {
  ASSERT_EQ(got.dims(), want.dims()) << what;
  for (std::int64_t i = 0; i < got.count(); ++i) {
    const double a = got.at(i), b = want.at(i);
    if ((std::isnan(a) && std::isnan(b)) || a == b) continue;
    EXPECT_LE(std::fabs(a - b), absolute + relative * std::fabs(b))
        << what << " element " << i << ": " << a << ", wanted " << b;
  }
}

struct Precision {
  DType dtype;
  double relative;
  double absolute;
};

void check(const testing::Case& c, const Precision& p) {
  const auto found = functions().find(c.text);
  ASSERT_NE(found, functions().end()) << c.text;
  std::vector<Tensor> x;
  while (const Array* given = c.find("x" + std::to_string(x.size())))
    x.emplace_back(is_floating(given->dtype()) ? given->cast(p.dtype) : *given);
  const Tensor y = found->second(x);
  const Array want = c.at("y").cast(y.dtype());  // what is too large for f32 is infinite there
  const double relative =
      c.text == "hardsigmoid" ? std::max(p.relative, 1e-7) : p.relative;  // PyTorch rounds its 1/6 to f32
  expect_near(c.text, testing::value(y), want, relative, p.absolute);
  Array weights(y.dtype(), y.shape().values({}));
  for (std::int64_t i = 0; i < weights.count(); ++i) weights.set(i, std::cos(static_cast<double>(i)));
  for (std::size_t k = 0; k < x.size(); ++k) {
    const Array* slope = c.find("g" + std::to_string(k));
    if (slope == nullptr) continue;
    const Array got = testing::value(gradients(sum(y * Tensor(weights)), {x[k]})[0]);
    expect_near(c.text + ", gradient " + std::to_string(k), got, *slope, relative, p.absolute);
  }
}

TEST(Functions, AgreeWithPyTorchInF64) {
  for (const auto& c : testing::read_cases("functions", "ops")) check(c, {DType::f64, 1e-9, 1e-12});
}

TEST(Functions, AgreeWithPyTorchInF32) {
  for (const auto& c : testing::read_cases("functions", "ops")) check(c, {DType::f32, 4e-6, 2e-6});
}

}  // namespace
}  // namespace tightloop
