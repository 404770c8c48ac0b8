// SPDX-License-Identifier: Apache-2.0
#include <tightloop/nn/layers/layer.h>
#include <tightloop/ops/functions.h>
#include <tightloop/train/forward/functions.h>
#include <tightloop/train/forward/parser.h>
#include <tightloop/train/forward/trace.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

namespace tightloop::train::forward {
namespace {

const TensorType kX{DType::f32, {Dim::batch(), 4}};
const TensorType kImage{DType::f32, {Dim::batch(), 2, 3, 5}};

/// Records what it is asked for. Linear and dropout answer with x · 2, others do what they do without
/// options.
struct FakeLayers : Layers {
  std::vector<std::string> calls;
  bool knows(std::string_view kind) const override { return nn::find_layer(kind) != nullptr; }
  std::vector<std::string> kinds() const override { return {"linear", "dropout"}; }
  Tensor call(const std::string& kind, const std::string& name, const std::vector<Term>& terms,
              const std::vector<std::string>& keywords, std::size_t) override {
    std::string text = kind + " " + name + ":";
    for (std::size_t i = 0; i < terms.size(); ++i) text += " " + keywords[i] + "=" + describe(terms[i]);
    if (kind != "linear" && kind != "dropout")
      return (*nn::make_layer(kind, {}, terms.at(0).as<Tensor>()->type()))(*terms[0].as<Tensor>());
    calls.push_back(text);
    return *terms.at(0).as<Tensor>() * 2;
  }
};

Tensor run(const std::string& source, FakeLayers& layers) {
  const Text text{source, "job.toml", 0, 1};
  const Names inputs{{"x", input("x", "data", kX)},
                     {"image", input("image", "data", kImage)},
                     {"k", input("k", "data", {DType::i64, {Dim::batch()}})}};
  const Names parameters{{"par", input("par", "state", {DType::f32, {1}})},
                         {"w", input("w", "state", {DType::f32, {4, 3}})}};
  return trace(parse(text), text, inputs, parameters, layers);
}

std::string type_of(const std::string& source) {
  FakeLayers layers;
  return to_string(run(source, layers).type());
}

std::string message(const std::string& source) {
  try {
    FakeLayers layers;
    run(source, layers);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

struct Typed {
  const char* source;
  const char* type;
};

TEST(Forward, ExpressionsHaveTheTypesOfTheirOps) {
  const Typed cases[] = {
      {"y = x + 1", "f32[B, 4]"},
      {"y = -x ** 2 / (1 + x)", "f32[B, 4]"},
      {"y = x @ w", "f32[B, 3]"},
      {"y = x * par", "f32[B, 4]"},
      {"y = x > 0.5", "bool[B, 4]"},
      {"y = where(x > 0, x, 0.1)", "f32[B, 4]"},
      {"y = k + 1", "i64[B]"},
      {"y = k * 0.5", "f32[B]"},
      {"y = sum(x, axis=1)", "f32[B]"},
      {"y = mean(x, dim=-1, keepdim=true)", "f32[B, 1]"},
      {"y = sum(x)", "f32[]"},
      {"y = flatten(image)", "f32[B, 30]"},
      {"y = reshape(image, (-1, 6, 5))", "f32[B, 6, 5]"},
      {"y = reshape(image, [-1, 2*3, 5])", "f32[B, 6, 5]"},
      {"y = permute(image, (0, 2, 3, 1))", "f32[B, 3, 5, 2]"},
      {"y = x[:, 0]", "f32[B]"},
      {"y = x[:, 1:3]", "f32[B, 2]"},
      {"y = x[:, -1:]", "f32[B, 1]"},
      {"y = image[..., 0]", "f32[B, 2, 3]"},
      {"y = x[:, none, ::2]", "f32[B, 1, 2]"},
      {"y = concat([x, x[:, :2]])", "f32[B, 6]"},
      {"y = stack((x, x))", "f32[B, 2, 4]"},
      {"y = cast(x, 'f64')", "f64[B, 4]"},
      {"y = gather(w, k)", "f32[B, 3]"},
      {"y = one_hot(k, 7)", "f32[B, 7]"},
      {"y = expand(x[:, none, :], (-1, 9, -1))", "f32[B, 9, 4]"},
      {"a = [3, 4]\ny = reshape(x, (-1, a[1]))", "f32[B, 4]"},
      {"y = x * (1 + 2*3 - 7 // 2)  # comment", "f32[B, 4]"},
      {"x = relu(x); x = tanh(\n  x)\nz = clamp(x, low=0)", "f32[B, 4]"},
      {"y = maximum(0.1, x)", "f32[B, 4]"},
      {"q = image[:, 0]\ny = attention(q, q, q[..., :3], is_causal=true)", "f32[B, 3, 3]"},
      {"q = image[:, 0]\ny = attention(q, q, q, mask=q @ transpose(q, 1, 2) > 0, scale=1)", "f32[B, 3, 5]"},
  };
  for (const auto& c : cases) EXPECT_EQ(type_of(c.source), c.type) << c.source;
}

TEST(Forward, ArithmeticOfNumbersIsPythons) {
  const std::pair<const char*, double> cases[] = {
      {"-2 ** 2", -4},   {"2 ** 3 ** 2", 512}, {"7 // -2", -4}, {"-7 % 3", 2},        {"1 / 4", 0.25},
      {"2 - 3 - 4", -5}, {"2 * (3 + 4)", 14},  {"- - 3", 3},    {"1e-3 + .5", 0.501}, {"2 ** -1", 0.5}};
  for (const auto& [source, value] : cases) {
    FakeLayers layers;
    const Tensor y = run(fmt::format("y = full([1], {})", source), layers);
    EXPECT_DOUBLE_EQ(y.node().attrs.find("value")->index() == 1
                         ? double(y.node().attrs.at<std::int64_t>("value"))
                         : y.node().attrs.at<double>("value"),
                     value)
        << source;
  }
}

TEST(Forward, LayersAreNamedByNameOrByKindAndOrder) {
  FakeLayers layers;
  run("h = linear(x, 8)\nh = relu(linear(h, 8, bias=false, name='net_0'))\ny = linear(dropout(h, 0.5), 1)",
      layers);
  ASSERT_EQ(layers.calls.size(), 4u);
  EXPECT_EQ(layers.calls[0], "linear linear0: =the tensor f32[B, 4] =the number 8");
  EXPECT_EQ(layers.calls[1], "linear net_0: =the tensor f32[B, 4] =the number 8 bias=false");
  EXPECT_EQ(layers.calls[2].substr(0, 17), "dropout dropout0:");
  EXPECT_EQ(layers.calls[3].substr(0, 15), "linear linear1:");
}

TEST(Forward, ErrorsShowThePlaceWithACaret) {
  EXPECT_EQ(message("y = linaer(x, 1)"),
            "job.toml:1:5: unknown function 'linaer' (did you mean 'linear'?)\n  y = linaer(x, 1)\n      ^");
  EXPECT_EQ(message("a = x\ny = relu(xx)"),
            "job.toml:2:10: unknown name 'xx' (did you mean 'x'?)\n  y = relu(xx)\n           ^");
  EXPECT_EQ(message("\ty = x +"), "job.toml:1:9: an expression is missing\n  \ty = x +\n  \t       ^");
  EXPECT_EQ(message("y = 'é' + x").substr(0, 56), "job.toml:1:5: a tensor or a number was expected here, no");
  EXPECT_EQ(
      message("y = clamp(x, lo=0)"),
      "job.toml:1:17: clamp has no argument lo (did you mean 'low'?); it is clamp(x, low=none, high=none)\n"
      "  y = clamp(x, lo=0)\n                  ^");
}

TEST(Forward, EveryMistakeHasItsMessage) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "has no statement"},
      {"# nothing", "has no statement"},
      {"linear(x, 1)", "a statement `name = expression` was expected"},
      {"y == x", "a statement"},
      {"y = (x", "never closed"},
      {"y = x)", "closes nothing"},
      {"y = (x]", "closes another kind"},
      {"y = 'x", "never closed"},
      {"y = x $ x", "means nothing here"},
      {"y = 3x", "runs into a name"},
      {"y = x x", "an operator or the end of the line"},
      {"y = 0 < x < 1", "cannot be chained"},
      {"y = x.mean()", "no methods"},
      {"y = relu", "is a function; call it"},
      {"y = x(1)", "is a value and cannot be called"},
      {"y = relu(x)(x)", "only a name can be called"},
      {"y = square()", "x is missing; it is square(x)"},
      {"y = square(x, 1)", "too many arguments"},
      {"y = logsumexp(x, x=x)", "x is given twice"},
      {"y = logsumexp(x, axis=1, axis=1)", "given twice"},
      {"y = logsumexp(axis=1, x)", "follows one with a name"},
      {"y = square(1)", "x must be a tensor, not the number 1"},
      {"y = concat(x)", "parts must be a list of tensors"},
      {"y = 3", "must be a tensor, not the number 3"},
      {"par = x", "par is a parameter"},
      {"relu = x", "is the name of a function"},
      {"none = x", "none is a value"},
      {"y = concat([])", "at least one"},
      {"y = x[0]", "the batch axis cannot be cut"},
      {"y = x[:, 4]", "index 4 is outside axis 1"},
      {"y = x[:, 0, 0]", "too many indices"},
      {"y = x[]", "an index is missing"},
      {"y = x[..., ...]", "only one ..."},
      {"y = x * (1 / 0)", "division by zero"},
      {"y = x * 99999999999999999999", "too large"},
      {"y = x * 1e999", "out of range"},
      {"y = x * (9223372036854775807 + 1)", "too large"},
      {"y = reshape(x, (-1, 3))", "divide the 4B elements"},
      {"y = reshape(x, (-1, -1))", "at most one -1"},
      {"y = x + image", "job.toml:1:7"},
      {"a = linear(x, 1, name='l')\nb = linear(x, 1, name='l')", "the name 'l' is taken"},
      {"y = linear(x, 1, name=3)", "name must be a text"},
      {"y = cast(x, 'f31')", "must be an element type"},
      {"y = x @ 2", "multiplies matrices"},
  };
  for (const auto& [source, expected] : cases) {
    EXPECT_NE(message(source).find(expected), std::string::npos) << source << "\n" << message(source);
  }
}

TEST(Forward, DeepNestingIsAnErrorAndNotACrash) {
  const int deep = 100000;
  const std::string open(deep, '('), close(deep, ')'), minus(deep, '-');
  std::string sum = "y = x", powers = "y = x", calls = "y = ", index = "y = x";
  for (int i = 0; i < deep; ++i) sum += "+x", powers += "**x", calls += "relu(", index += "[:]";
  for (const auto& source :
       {"y = " + open + "x" + close, "y = " + minus + "x", sum, powers, calls + "x" + close, index})
    EXPECT_NE(message(source).find("nested too deep"), std::string::npos) << message(source);
}

TEST(Forward, SignaturesParseAndNamesDiffer) {
  std::set<std::string_view> names;
  for (const Function& f : all_functions()) {
    EXPECT_NO_THROW(parse_expression(Text{std::string(f.signature), "signature", 0, 1})) << f.signature;
    EXPECT_TRUE(names.insert(f.name()).second) << f.name();
    EXPECT_EQ(nn::find_layer(f.name()), nullptr) << f.name() << " is a layer already";
  }
}

}  // namespace
}  // namespace tightloop::train::forward
