// SPDX-License-Identifier: Apache-2.0
#include <tests/support/files.h>
#include <tightloop/engine/trace.h>
#include <tightloop/nn/nn.h>

#include <set>

namespace tightloop::nn {
namespace {

struct Net : Module {
  Linear lin{40, 1, {.bias = false}};
  Parameter par{{1}};
  Sequential body{Linear(4, 8), Tanh(), Linear(8, 2)};

  void fields(Fields& f) override { f("lin", lin)("par", par)("body", body); }
  Tensor operator()(Tensor x, Tensor f) { return lin(x) + par * f; }
};

template <class Named>
std::vector<std::string> paths(const std::vector<Named>& named) {
  std::vector<std::string> out;
  for (const auto& n : named) out.push_back(n.path);
  return out;
}

TEST(Module, NamesAreThoseOfPyTorch) {
  Net net;
  EXPECT_EQ(paths(net.state_dict()),
            (std::vector<std::string>{"lin.weight", "par", "body.0.weight", "body.0.bias", "body.2.weight",
                                      "body.2.bias"}));
  EXPECT_EQ(net.count(), 40 + 1 + 4 * 8 + 8 + 8 * 2 + 2);
  EXPECT_EQ(net.parameter("body.0.weight").dims(), (std::vector<std::int64_t>{8, 4}));
  EXPECT_ERROR(net.parameter("lin.weigth"), "did you mean 'lin.weight'?");
}

TEST(Module, FreezesParts) {
  Net net;
  net.body.freeze();
  EXPECT_EQ(net.trainable_count(), 41);
  EXPECT_EQ(net.variables().size(), 2u);
  net.freeze(false);
  EXPECT_EQ(net.variables().size(), 6u);
}

TEST(Module, InitialisesEachParameterFromAStreamOfItsOwn) {
  Net a, b;
  a.initialize(1);
  b.initialize(1);
  for (const auto& p : a.parameters())
    EXPECT_TRUE(identical(p.parameter->array(), b.parameter(p.path).array())) << p.path;
  b.initialize(2);
  EXPECT_FALSE(identical(a.lin.weight.array(), b.lin.weight.array()));
  Sequential twins(Linear(3, 3), Linear(3, 3));
  twins.initialize(1);
  EXPECT_FALSE(identical(twins.parameter("0.weight").array(), twins.parameter("1.weight").array()));
}

TEST(Module, AppliesChildrenFirst) {
  Net net;
  std::vector<std::string> seen;
  net.apply([&](Module& m) { seen.push_back(m.name()); });
  EXPECT_EQ(seen, (std::vector<std::string>{"2", "1", "0", "body", "lin", ""}));
}

TEST(Module, TracedParametersAreStatesUnderTheirPaths) {
  Net net;
  net.initialize(3);
  Trace trace;
  const Tensor y = net(zeros({5, 40}), ones({5, 1}));
  ASSERT_EQ(trace.used().size(), 2u);
  std::set<std::string> names;
  for (const auto& u : trace.used()) names.insert(ir::input_name(u.input.node()));
  EXPECT_EQ(names, (std::set<std::string>{"lin.weight", "par"}));
}

TEST(Module, LayersMarkTheirNodes) {
  Net net;
  net.initialize(3);
  const Tensor y = net.body(Tensor(Array(DType::f32, {1, 4})));
  EXPECT_EQ(y.node().scope, "body.2");
}

TEST(Module, SummaryListsLayersAndCounts) {
  Net net;
  const std::string text = net.summary();
  EXPECT_NE(text.find("Linear(40, 1, bias=false)"), std::string::npos) << text;
  EXPECT_NE(text.find("f32[8, 4]"), std::string::npos) << text;
  EXPECT_NE(text.find("99 parameters"), std::string::npos) << text;
}

struct Twice : Module {
  Linear shared{2, 2};
  void fields(Fields& f) override { f("a", shared)("b", shared); }
};
struct SameName : Module {
  Parameter p{{1}}, q{{1}};
  void fields(Fields& f) override { f("p", p)("p", q); }
};
struct Dotted : Module {
  Parameter p{{1}};
  void fields(Fields& f) override { f("a.b", p); }
};

TEST(Module, ASharedParameterCountsOnce) {
  Twice net;
  EXPECT_EQ(net.state_dict().size(), 4u);
  EXPECT_EQ(paths(net.parameters()), (std::vector<std::string>{"a.weight", "a.bias"}));
  EXPECT_EQ(net.count(), 6);
}

struct Counting : Module {
  BatchNorm1d norm{3};
  Linear lin{3, 2};
  void fields(Fields& f) override { f("norm", norm)("lin", lin); }
};

TEST(Module, BuffersAreStatesButNoParameters) {
  Counting net;
  EXPECT_EQ(paths(net.state_dict()),
            (std::vector<std::string>{"norm.weight", "norm.bias", "norm.running_mean", "norm.running_var",
                                      "norm.num_batches_tracked", "lin.weight", "lin.bias"}));
  EXPECT_EQ(paths(net.parameters()),
            (std::vector<std::string>{"norm.weight", "norm.bias", "lin.weight", "lin.bias"}));
  EXPECT_EQ(paths(net.buffers()),
            (std::vector<std::string>{"norm.running_mean", "norm.running_var", "norm.num_batches_tracked"}));
  EXPECT_EQ(net.count(), 3 + 3 + 6 + 2);
  EXPECT_EQ(net.buffer("norm.running_var").array().at(2), 1);
  EXPECT_ERROR(net.buffer("norm.weight"), "module: no buffer 'norm.weight'");
  EXPECT_ERROR(net.parameter("norm.running_var"), "module: no parameter 'norm.running_var'");
  const std::string text = net.summary();
  EXPECT_NE(text.find("14 parameters, 56 bytes; buffers, 32 bytes"), std::string::npos) << text;
}

TEST(Module, AListNamesItsModulesByNumber) {
  struct Blocks : Module {
    ModuleList<Linear> blocks;
    Blocks() {
      for (int i = 0; i < 2; ++i) blocks.emplace<Linear>(3, 3, LinearOptions{.bias = false});
    }
    void fields(Fields& f) override { f("blocks", blocks); }
  } net;
  EXPECT_EQ(paths(net.state_dict()), (std::vector<std::string>{"blocks.0.weight", "blocks.1.weight"}));
  net.initialize(1);
  Tensor x = ones({1, 3});
  for (Linear& block : net.blocks) x = block(x);
  EXPECT_EQ(x.array().at(1), net.blocks[1](net.blocks[0](ones({1, 3}))).array().at(1));
  EXPECT_ERROR(net.blocks[2], "no module 2, it has 2");
}

TEST(Module, InitialisingResetsBuffers) {
  Counting net;
  net.buffer("norm.running_mean").assign(Array::of<float>({3}, {1, 2, 3}));
  net.initialize(1);
  EXPECT_EQ(net.buffer("norm.running_mean").array().at(2), 0);
}

TEST(Module, SharingAParameterTiesTwoModules) {
  struct Tied : Module {
    Embedding table{5, 3};
    Linear out{3, 5, {.bias = false}};
    Tied() { out.weight = table.weight.share(); }
    void fields(Fields& f) override { f("table", table)("out", out); }
  } net;
  EXPECT_EQ(paths(net.state_dict()), (std::vector<std::string>{"table.weight", "out.weight"}));
  EXPECT_EQ(paths(net.parameters()), (std::vector<std::string>{"table.weight"}));
  EXPECT_EQ(net.count(), 15);
  net.initialize(1);
  EXPECT_TRUE(identical(net.out.weight.array(), net.table.weight.array()));
  net.out.freeze();
  EXPECT_TRUE(net.variables().empty());
}

TEST(Module, RefusesNamesThatDoNotWork) {
  EXPECT_ERROR(SameName().state_dict(), "two fields are named 'p'");
  EXPECT_ERROR(Dotted().state_dict(), "'a.b' is no field name");
}

TEST(Parameter, HasNoValueBeforeItIsInitialised) {
  Linear layer(3, 2);
  layer.parameters();
  EXPECT_ERROR(layer.weight.value(), "parameter 'weight' f32[2, 3] has no value yet: call initialize(seed)");
  EXPECT_TRUE(Parameter(Shape{2}).has_value());
}

TEST(Parameter, TakesOnlyItsOwnType) {
  Linear layer(3, 2);
  EXPECT_ERROR(layer.weight.assign(Array(DType::f32, {3, 2})), "f32[2, 3]");
  EXPECT_ERROR(layer.weight.assign(Array(DType::i64, {2, 3})), "i64[2, 3]");
  EXPECT_ERROR(Parameter({Dim::batch()}), "dims must be numbers");
  EXPECT_ERROR(Parameter({2}, DType::i64), "must be floating, got i64");
}

}  // namespace
}  // namespace tightloop::nn
