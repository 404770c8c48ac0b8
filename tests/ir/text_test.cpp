// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tightloop/base/array.h>
#include <tightloop/ir/graph.h>

#include <cmath>
#include <limits>

namespace tightloop::ir {
namespace {

TensorType declared(const InferArgs& a) { return *a.declared; }
TensorType same(const InferArgs& a) {
  if (a.inputs.size() > 1 && a.inputs[0].type() != a.inputs[1].type())
    throw Error("add: types must be equal, " + to_string(a.inputs[0].type()) + " and " +
                to_string(a.inputs[1].type()) + " came");
  return a.inputs[0].type();
}

const OpDef kInput{.name = "input",
                   .doc = "",
                   .kind = OpKind::source,
                   .arity = 0,
                   .typed = true,
                   .attrs = {{"name", std::string()}, {"role", std::string()}},
                   .infer = declared};
const OpDef kConstant{.name = "constant",
                      .doc = "",
                      .kind = OpKind::source,
                      .arity = 0,
                      .typed = true,
                      .attrs = {{"value", 0.0}},
                      .infer = declared};
const OpDef kAdd{.name = "add", .doc = "", .arity = 2, .infer = same};
const OpDef kOdd{.name = "odd",
                 .doc = "",
                 .arity = 1,
                 .attrs = {{"axes", Ints{}},
                           {"flag", false, false},
                           {"scale", 1.0, false},
                           {"text", std::string(), false},
                           {"type", DType::f32, false},
                           {"count", std::int64_t{7}, false}},
                 .infer = same};
const OpDef kJoin{.name = "join", .doc = "", .arity = -1, .infer = same};

const OpDef* lookup(std::string_view name) {
  for (const OpDef* op : {&kInput, &kConstant, &kAdd, &kOdd, &kJoin})
    if (op->name == name) return op;
  return nullptr;
}

const TensorType kType{DType::f32, {Dim::batch(), 3}};

Tensor input(const std::string& name, const std::string& role = "argument", TensorType type = kType) {
  return make_node(kInput, {}, {{"name", name}, {"role", role}}, &type);
}

std::string message(std::string_view text) {
  try {
    parse(text, lookup);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

std::string with_line(const std::string& line) {
  return "graph g {\n  %0: f32[B, 3] = input() {name=\"x\", role=\"argument\"}\n" + line +
         "\n  return y=%0\n}\n";
}

TEST(IrText, PrintsOneLineANode) {
  const Tensor x = input("x");
  const Scope outer("net");
  const Scope inner("lin");
  const Graph g{"step", {x}, {{"y", make_node(kAdd, {x, x})}}};
  EXPECT_EQ(print(g),
            "graph step {\n"
            "  %0: f32[B, 3] = input() {name=\"x\", role=\"argument\"}\n"
            "  %1: f32[B, 3] = add(%0, %0)  # net.lin\n"
            "  return y=%1\n"
            "}\n");
}

TEST(IrText, RoundTripsEveryKindOfAttribute) {
  const Tensor x = input("odd \"name\"\n\\", "state");
  const Tensor odd = make_node(kOdd, {x},
                               {{"axes", Ints{0, -2, std::numeric_limits<std::int64_t>::min()}},
                                {"flag", true},
                                {"scale", -0.0},
                                {"text", std::string("a\"b\x01")},
                                {"type", DType::boolean},
                                {"count", std::int64_t{-5}}});
  const TensorType whole{DType::i64, {Dim::rows(4), 0}};
  Graph g{"g", {x}, {{"a b", odd}}};
  g.outputs.push_back({"big", make_node(kConstant, {}, {{"value", (std::int64_t{1} << 60) + 1}}, &whole)});
  for (const double v : {0.1, 1e300, 5e-324, -3.0, std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity(), std::nan("")})
    g.outputs.push_back(
        {"c" + std::to_string(g.outputs.size()), make_node(kConstant, {}, {{"value", v}}, &kType)});
  const std::string text = print(g);
  const Graph back = parse(text, lookup);
  EXPECT_EQ(print(back), text);
  EXPECT_EQ(back.inputs.size(), 1u);
  EXPECT_EQ(input_name(back.inputs[0].node()), "odd \"name\"\n\\");
  EXPECT_EQ(back.output("big")->value.node().attrs.at<std::int64_t>("value"), (std::int64_t{1} << 60) + 1);
  EXPECT_TRUE(std::signbit(back.output("a b")->value.node().attrs.at<double>("scale")));
  EXPECT_EQ(back.output("c2")->value.node().attrs.at<double>("value"), 0.1);
}

TEST(IrText, AScopeStaysOnItsLine) {
  const Tensor x = input("x");
  const Scope scope("\x01 a\nb \x0b");
  const std::string text = print({"g", {x}, {{"y", make_node(kAdd, {x, x})}}});
  EXPECT_NE(text.find("add(%0, %0)  # a b\n"), std::string::npos);
  EXPECT_EQ(print(parse(text, lookup)), text);
}

TEST(IrText, DefaultsAreNotStored) {
  const Tensor x = input("x");
  const Tensor t = make_node(kOdd, {x}, {{"flag", false}, {"axes", Ints{1}}, {"scale", std::int64_t{1}}});
  EXPECT_EQ(t.node().attrs, (Attrs{{"axes", Ints{1}}}));
}

TEST(IrText, MakeNodeNamesTheBrokenRule) {
  const Tensor x = input("x");
  const auto said = [](auto make) {
    try {
      make();
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(said([&] { make_node(kAdd, {x}); }), "add: takes 2 inputs, 1 came");
  EXPECT_EQ(said([&] { make_node(kJoin, {}); }), "join: takes at least 1 inputs, 0 came");
  EXPECT_EQ(said([&] { make_node(kOdd, {x}); }), "odd: needs the attribute 'axes'");
  EXPECT_EQ(said([&] {
              make_node(kOdd, {x}, {{"axis", Ints{}}});
            }),
            "odd: has no attribute 'axis' (did you mean 'axes'?)");
  EXPECT_EQ(said([&] {
              make_node(kOdd, {x}, {{"axes", true}});
            }),
            "odd: attribute 'axes' must be a list of integers, true or false came");
  EXPECT_EQ(said([&] {
              make_node(kOdd, {x}, {{"axes", Ints{}}, {"axes", Ints{}}});
            }),
            "odd: attribute 'axes' is given twice");
  EXPECT_THROW(make_node(kAdd, {x, Tensor()}), InternalError);
}

TEST(IrText, ErrorsHaveLineAndColumn) {
  EXPECT_EQ(message(""), "graph text, line 1, column 1: expected 'graph'");
  EXPECT_EQ(message(with_line("  %1: f32[B, 3] = ad(%0, %0)")),
            "graph text, line 3, column 19: unknown op 'ad'");
  EXPECT_EQ(message(with_line("  %1: f32[B, 3] = add(%0, %7)")),
            "graph text, line 3, column 28: this value is not defined above");
  EXPECT_EQ(message(with_line("  %1: f32[B, 4] = add(%0, %0)")),
            "graph text, line 3, column 4: add gives f32[B, 3], not f32[B, 4]");
  EXPECT_EQ(message(with_line("  %0: f32[B, 3] = add(%0, %0)")),
            "graph text, line 3, column 4: %0 is defined twice");
  EXPECT_EQ(message(with_line("  %1: f99[B, 3] = add(%0, %0)")),
            "graph text, line 3, column 7: expected a dtype");
  EXPECT_EQ(message(with_line("  %1: f32[-1] = add(%0, %0)")),
            "graph text, line 3, column 11: a dim cannot be negative");
  EXPECT_NE(message(with_line("  %1: f32[99999999999999999999] = add(%0)")).find("fit 64 bits"),
            std::string::npos);
  EXPECT_NE(message(with_line("  %1: f32[] = constant() {value=1e999}")).find("fit a double"),
            std::string::npos);
  EXPECT_NE(message(with_line("  %1: f32[] = constant() {value=1x}")).find("expected a value"),
            std::string::npos);
  EXPECT_NE(message(with_line("  %1: f32[] = constant() {value=\"x}")).find("does not end"),
            std::string::npos);
  EXPECT_NE(message(with_line("  %1: f32[1,1,1,1,1,1,1,1,1] = constant()")).find("rank over"),
            std::string::npos);
  EXPECT_NE(message(with_line("  %1: f32[1] = input() {name=\"x\", role=\"argument\"}")).find("two inputs"),
            std::string::npos);
  EXPECT_NE(message(with_line("") + "x").find("nothing may follow"), std::string::npos);
  EXPECT_NE(message("graph g { return a=%0 }").find("not defined"), std::string::npos);
}

TEST(IrText, EveryPrefixOfAGraphIsRefused) {
  const std::string text = with_line("  %1: f32[B, 3] = add(%0, %0)  # scope");
  for (std::size_t n = 0; n + 2 < text.size(); ++n)
    EXPECT_THROW(parse(text.substr(0, n), lookup), Error) << n;
}

TEST(IrGraph, TopologicalHoldsForDeepGraphs) {
  Tensor t = input("x");
  Graph g{"deep", {t}, {}};
  for (int i = 0; i < 300000; ++i) t = make_node(kAdd, {t, t});
  g.outputs.push_back({"y", t});
  EXPECT_EQ(topological(g).size(), 300001u);
  EXPECT_NO_THROW(verify(g));
  t = {};
  g = {};
}

TEST(IrGraph, InputsComeFirstInTheirOrder) {
  const Tensor a = input("a");
  const Tensor b = input("b");
  const Graph g{"g", {a, b}, {{"y", make_node(kAdd, {b, a})}}};
  const auto order = topological(g);
  ASSERT_EQ(order.size(), 3u);
  EXPECT_EQ(order[0], a.id());
  EXPECT_EQ(order[1], b.id());
  EXPECT_EQ(g.input("b")->id(), b.id());
  EXPECT_EQ(g.input("c"), nullptr);
  EXPECT_EQ(g.output("x"), nullptr);
}

TEST(IrGraph, RewriteReplacesAndKeepsTheScope) {
  const Tensor x = input("x");
  Tensor y;
  {
    const Scope scope("layer");
    y = make_node(kAdd, {x, x});
  }
  const Graph g{"g", {x}, {{"y", make_node(kAdd, {y, y})}}};
  const Graph out = rewrite(g, [&](const Node& node, const std::vector<Tensor>& in) {
    return &node == y.id() ? make_node(kJoin, {in[0]}) : Tensor();
  });
  EXPECT_EQ(out.outputs[0].value.node().inputs[0].node().op, &kJoin);
  EXPECT_EQ(out.outputs[0].value.node().inputs[0].node().scope, "layer");
  EXPECT_EQ(Scope::path(), "");
}

std::string broken(const Graph& g) {
  try {
    verify(g);
  } catch (const InternalError& e) {
    return e.what();
  }
  return "";
}

TEST(IrVerify, NamesTheFirstBrokenRule) {
  const Tensor x = input("x");
  EXPECT_EQ(broken({"g", {x}, {{"y", x}}}), "");
  EXPECT_NE(broken({"g", {}, {{"y", x}}}).find("input 'x' is not listed"), std::string::npos);
  EXPECT_NE(broken({"g", {x, input("x")}, {}}).find("two inputs are named 'x'"), std::string::npos);
  EXPECT_NE(broken({"g", {x}, {{"x", x}}}).find("'x' is named as an input that is no state"),
            std::string::npos);
  EXPECT_NE(broken({"g", {x}, {{"y", x}, {"y", x}}}).find("two outputs are named 'y'"), std::string::npos);
  EXPECT_NE(broken({"g", {make_node(kAdd, {x, x})}, {}}).find("not an input"), std::string::npos);
  EXPECT_NE(broken({"g", {input("x", "guest")}, {}}).find("unknown role 'guest'"), std::string::npos);
  EXPECT_NE(broken({"g", {input("x", "state")}, {}}).find("has a static shape"), std::string::npos);
  EXPECT_NE(broken({"g", {input("x", "data")}, {}}).find("has leading dim N"), std::string::npos);
  EXPECT_NE(broken({"g", {input("x", "rows")}, {}}).find("is i64[B]"), std::string::npos);
  EXPECT_NE(broken({"g", {input("x", "step")}, {}}).find("is i64[]"), std::string::npos);
  const Tensor w = input("w", "state", {DType::f32, {3}});
  EXPECT_NE(broken({"g", {w, x}, {{"w", x}}}).find("state 'w' is f32[3] but becomes f32[B, 3]"),
            std::string::npos);
}

TEST(IrVerify, FindsATypeThatTheOpWouldNotGive) {
  const Tensor x = input("x");
  auto node = std::make_shared<Node>();
  node->op = &kAdd;
  node->inputs = {x, x};
  node->type = {DType::f64, {3}};
  EXPECT_NE(broken({"g", {x}, {{"y", Tensor(std::shared_ptr<const Node>(node))}}})
                .find("its inputs give f32[B, 3]"),
            std::string::npos);
}

TEST(IrTensor, ALeafHoldsItsArrayWithoutACopy) {
  const Array a = Array::of<float>({2}, {1.0f, 2.0f});
  const Tensor t = a;
  EXPECT_EQ(t.type(), (TensorType{DType::f32, {2}}));
  EXPECT_EQ(t.node().value->bytes(), a.bytes());
  EXPECT_THROW(Tensor().node(), InternalError);
}

}  // namespace
}  // namespace tightloop::ir
