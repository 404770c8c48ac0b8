// SPDX-License-Identifier: Apache-2.0
// Walks the list of ops: each is documented, typed, evaluated, printed and parsed, and its body means what
// evaluate() does.
#include <tightloop/ir/graph.h>

#include <tests/ops/lanes_builder.h>
#include <tests/ops/sample_graph.h>
#include <tests/support/files.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace tightloop {
namespace {

using testing::error_of;
using testing::make;

class Op : public ::testing::TestWithParam<const ir::OpDef*> {};

TEST_P(Op, IsFoundDocumentedAndSampled) {
  const ir::OpDef& op = *GetParam();
  EXPECT_EQ(ops::find_op(op.name), &op);
  EXPECT_FALSE(op.doc.empty());
  ASSERT_NE(op.infer, nullptr);
  ASSERT_NE(op.samples, nullptr);
  EXPECT_FALSE(op.samples().empty());
  EXPECT_EQ(op.evaluate == nullptr, op.name == "input");
  EXPECT_EQ(op.body != nullptr, op.kind == ir::OpKind::elementwise || op.kind == ir::OpKind::random);
}

TEST_P(Op, PrintsAndParsesBack) {
  const ir::OpDef& op = *GetParam();
  for (const auto& sample : op.samples()) {
    const auto s = make(op, sample);
    const ir::Graph graph = s.graph({s.y});
    ir::verify(graph);
    const std::string text = ir::print(graph);
    EXPECT_EQ(ir::print(ir::parse(text, ops::find_op)), text);
  }
}

TEST_P(Op, EvaluatesItsSamplesToTheInferredType) {
  const ir::OpDef& op = *GetParam();
  for (const auto& sample : op.samples()) {
    const auto s = make(op, sample);
    const Array y = testing::run(s, {s.y})[0];
    EXPECT_EQ(y.dtype(), s.y.dtype());
    EXPECT_EQ(y.dims(), s.y.shape().values(testing::kSizes));
    if (op.name == "constant") continue;
    for (std::int64_t i = 0; i < y.count(); ++i)
      ASSERT_TRUE(std::isfinite(y.at(i))) << op.name << " element " << i;
  }
}

class OpWithBody : public Op {};

TEST_P(OpWithBody, BodyMeansWhatEvaluateDoes) {
  const ir::OpDef& op = *GetParam();
  for (const auto& sample : op.samples()) {
    if (sample.attrs.find("within") != nullptr)
      continue;  // a window of a draw: the backend knows its elements
    const auto s = make(op, sample);
    const Array want = testing::run(s, {s.y})[0];
    testing::LanesBuilder b(want.count());
    std::vector<ir::Scalar> inputs;
    for (const Array& x : s.values) inputs.push_back(b.input(x));
    const ir::Scalar scalar = op.body(b, inputs, s.y.node());
    EXPECT_EQ(scalar.dtype, testing::LanesBuilder::carried(s.y.dtype()));
    Array got(want.dtype(), want.dims());
    b.read(scalar, got);
    const double tolerance = std::max(sample.tolerance, want.dtype() == DType::f32   ? 6e-7
                                                        : want.dtype() == DType::f64 ? 1e-15
                                                                                     : 0);
    for (std::int64_t i = 0; i < want.count(); ++i)
      ASSERT_NEAR(got.at(i), want.at(i),
                  tolerance * (std::fabs(want.at(i)) + (op.kind == ir::OpKind::random ? 1 : 0)))
          << op.name << " " << to_string(s.y.type()) << " element " << i;
  }
}

TEST_P(Op, RefusesAnotherNumberOfInputs) {
  const ir::OpDef& op = *GetParam();
  const ir::Sample sample = op.samples()[0];
  auto s = make(op, sample);
  std::vector<Tensor> inputs = s.y.node().inputs;
  const TensorType* declared = sample.declared.empty() ? nullptr : &sample.declared[0];
  if (op.arity < 0)
    inputs.clear();
  else
    inputs.push_back(zeros({3}));
  const std::string said = error_of([&] { ir::make_node(op, inputs, sample.attrs, declared); });
  EXPECT_EQ(said.rfind(std::string(op.name) + ": ", 0), 0U) << said;
}

class ElementwiseOp : public Op {};

TEST_P(ElementwiseOp, RefusesUnequalShapesAndStorageTypes) {
  const ir::OpDef& op = *GetParam();
  const ir::Sample sample = op.samples()[0];
  const auto refused = [&](std::vector<Tensor> inputs) {
    const TensorType* declared = sample.declared.empty() ? nullptr : &sample.declared[0];
    const std::string said = error_of([&] { ir::make_node(op, std::move(inputs), sample.attrs, declared); });
    EXPECT_EQ(said.rfind(std::string(op.name) + ": ", 0), 0U) << said;
    EXPECT_NE(said.find("got"), std::string::npos) << said;
  };
  std::vector<Tensor> inputs = make(op, sample).inputs;
  if (inputs.size() > 1) {
    auto longer = inputs;
    longer.back() = zeros({258}, longer.back().dtype());
    refused(longer);
    auto other = inputs;
    other.back() = zeros(other.back().shape(), DType::u8);
    refused(other);
  }
  if (op.name == "cast" || op.name == "stop_gradient" || op.name == "select") return;
  for (Tensor& t : inputs) t = zeros(t.shape(), DType::bf16);
  refused(inputs);
}

using Ops = std::vector<const ir::OpDef*>;

Ops those(bool (*wanted)(const ir::OpDef&)) {
  Ops found;
  for (const ir::OpDef* op : ops::all_ops())
    if (wanted(*op)) found.push_back(op);
  return found;
}

std::string name_of(const ::testing::TestParamInfo<const ir::OpDef*>& info) {
  return std::string(info.param->name);
}

INSTANTIATE_TEST_SUITE_P(All, Op, ::testing::ValuesIn(those([](const auto&) { return true; })), name_of);
INSTANTIATE_TEST_SUITE_P(All, OpWithBody,
                         ::testing::ValuesIn(those([](const auto& op) { return op.body != nullptr; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(All, ElementwiseOp, ::testing::ValuesIn(those([](const auto& op) {
                           return op.kind == ir::OpKind::elementwise;
                         })),
                         name_of);

TEST(Ops, HaveDifferentNamesAndUnknownOnesAreNotFound) {
  std::vector<std::string_view> names;
  for (const ir::OpDef* op : ops::all_ops()) names.push_back(op->name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(ops::find_op("conv9d"), nullptr);
}

struct Refusal {
  const char* op;
  std::vector<TensorType> inputs;
  ir::Attrs attrs;
  std::vector<TensorType> declared;
  const char* rule;
};

/// Attributes of a convolution of one spatial dim.
ir::Attrs places(std::int64_t stride, std::int64_t padding, std::int64_t dilation) {
  using ir::Ints;
  return {{"stride", Ints{stride}},
          {"low", Ints{padding}},
          {"high", Ints{padding}},
          {"dilation", Ints{dilation}}};
}

ir::Attrs pooling(ir::Ints size, std::int64_t stride, std::int64_t padding) {
  ir::Attrs attrs{{"size", std::move(size)}};
  for (const auto& [name, value] : places(stride, padding, 1)) attrs.set(name, value);
  return attrs;
}

TEST(Ops, RefuseWhatTheirRulesForbid) {
  using ir::Ints;
  const DType f = DType::f32, i = DType::i64;
  const Dim batch = Dim::batch();
  const std::vector<Refusal> cases{
      {"reshape", {{f, {3}}}, {}, {{f, {4}}}, "keeps the number"},
      {"reshape", {{f, {3}}}, {}, {{i, {3}}}, "keeps the dtype"},
      {"broadcast", {{f, {3}}}, {{"dims", Ints{0}}}, {{f, {4}}}, "only a dim of 1"},
      {"broadcast", {{f, {3}}}, {{"dims", Ints{1}}}, {{f, {3}}}, "increase inside"},
      {"broadcast", {{f, {3}}}, {{"dims", Ints{-1}}}, {{f, {3}}}, "increase inside"},
      {"broadcast", {{f, {3}}}, {{"dims", Ints{}}}, {{f, {3}}}, "for each input dim"},
      {"transpose", {{f, {3, 4}}}, {{"perm", Ints{0, 0}}}, {}, "once"},
      {"transpose", {{f, {3, 4}}}, {{"perm", Ints{0, 7}}}, {}, "once"},
      {"transpose", {{f, {3, 4}}}, {{"perm", Ints{0}}}, {}, "every dim"},
      {"slice", {{f, {3}}}, {{"start", Ints{2}}, {"stop", Ints{4}}, {"step", Ints{1}}}, {}, "stop <= size"},
      {"slice", {{f, {3}}}, {{"start", Ints{0}}, {"stop", Ints{3}}, {"step", Ints{0}}}, {}, "step >= 1"},
      {"slice", {{f, {batch}}}, {{"start", Ints{0}}, {"stop", Ints{3}}, {"step", Ints{1}}}, {}, "symbolic"},
      {"slice", {{f, {3}}}, {{"start", Ints{}}, {"stop", Ints{}}, {"step", Ints{}}}, {}, "one number a dim"},
      {"concat", {{f, {3}}, {f, {3, 1}}}, {{"axis", std::int64_t{0}}}, {}, "rank"},
      {"concat", {{f, {batch}}, {f, {3}}}, {{"axis", std::int64_t{0}}}, {}, "static"},
      {"concat", {{f, {2, 3}}, {f, {2, 4}}}, {{"axis", std::int64_t{0}}}, {}, "along the axis only"},
      {"concat", {{f, {3}}}, {{"axis", std::int64_t{1}}}, {}, "axis"},
      {"pad", {{f, {3}}}, {{"low", Ints{-1}}, {"high", Ints{0}}, {"value", 0.0}}, {}, "negative"},
      {"pad", {{f, {batch}}}, {{"low", Ints{1}}, {"high", Ints{0}}, {"value", 0.0}}, {}, "symbolic"},
      {"reduce_sum", {{f, {3}}}, {{"axes", Ints{1}}}, {}, "inside the shape"},
      {"reduce_sum", {{f, {3, 3}}}, {{"axes", Ints{1, 0}}}, {}, "increase"},
      {"reduce_sum", {{DType::boolean, {3}}}, {{"axes", Ints{0}}}, {}, "bool"},
      {"reduce_max", {{DType::f16, {3}}}, {{"axes", Ints{0}}}, {}, "storage"},
      {"argmax", {{f, {3}}}, {{"axis", std::int64_t{-1}}}, {}, "outside"},
      {"argmin", {{f, {0}}}, {{"axis", std::int64_t{0}}}, {}, "empty"},
      {"matmul", {{f, {3, 4}}, {f, {3, 4}}}, {}, {}, "inner dims"},
      {"matmul", {{f, {3, 4}}, {DType::f64, {4, 3}}}, {}, {}, "two f32 or two f64"},
      {"matmul", {{f, {2, 3, 4}}, {f, {1, 4, 3}}}, {}, {}, "leading dims"},
      {"matmul", {{f, {4}}, {f, {4}}}, {}, {}, "ranks of 2"},
      {"gather", {{f, {3}}, {f, {2}}}, {}, {}, "index must be"},
      {"gather", {{f, {}}, {i, {2}}}, {}, {}, "rows"},
      {"gather", {{f, {0, 2}}, {i, {2}}}, {}, {}, "no rows"},
      {"gather_window",
       {{f, {3}}, {i, {2}}},
       {{"length", std::int64_t{4}}},
       {},
       "fewer rows than the length"},
      {"gather_window",
       {{f, {3}}, {DType::i32, {2}}},
       {{"length", std::int64_t{2}}},
       {},
       "index must be i64"},
      {"gather_window", {{f, {3}}, {i, {2}}}, {{"length", std::int64_t{0}}}, {}, "at least 1"},
      {"scatter_add", {{i, {2}}, {f, {3, 1}}}, {}, {{f, {4, 1}}}, "begin with the dims"},
      {"scatter_add", {{i, {2}}, {f, {2, 3}}}, {}, {{f, {4, 2}}}, "shaped as an update"},
      {"convolution",
       {{f, {2, 3, 5}}, {f, {4, 3, 6}}},
       places(1, 0, 1),
       {},
       "6 does not fit into 5 elements"},
      {"convolution", {{f, {2, 3, 5}}, {f, {4, 2, 3}}}, places(1, 0, 1), {}, "as many channels"},
      {"convolution", {{f, {2, 3, 5}}, {f, {4, 3, 3}}}, places(0, 0, 1), {}, "must be 1 or greater"},
      {"convolution", {{f, {2, 3, 5}}, {f, {4, 3, 3}}}, places(1, -1, 1), {}, "must not be negative"},
      {"convolution",
       {{f, {2, 3, 5}}, {f, {4, 3, 3, 3}}},
       places(1, 0, 1),
       {},
       "one kernel dim a spatial dim"},
      {"convolution", {{f, {2, 3}}, {f, {4, 3}}}, places(1, 0, 1), {}, "one to three spatial dims"},
      {"convolution", {{f, {2, 3, batch}}, {f, {4, 3, 3}}}, places(1, 0, 1), {}, "first dim may be symbolic"},
      {"convolution", {{f, {2, 3, 5}}, {DType::f64, {4, 3, 3}}}, places(1, 0, 1), {}, "two f32 or two f64"},
      {"convolution_input_grad",
       {{f, {2, 4, 3}}, {f, {4, 3, 3}}},
       places(1, 0, 1),
       {{f, {2, 3, 6}}},
       "must be typed as the first input"},
      {"convolution_weight_grad",
       {{f, {2, 3, 5}}, {f, {2, 4, 3}}},
       places(1, 0, 1),
       {{f, {4, 3, 4}}},
       "must be typed as the second"},
      {"window_argmax", {{f, {2, 3, 5}}}, pooling({2}, 1, 2), {}, "nothing but padding"},
      {"window_sum", {{i, {2, 3, 5}}}, pooling({2}, 1, 0), {}, "f32 or f64"},
      {"window_sum", {{f, {2, 3, 5}}}, pooling({2, 2}, 1, 0), {}, "size needs"},
      {"window_spread", {{f, {2, 3, 5}}}, pooling({2}, 1, 0), {{f, {2, 3, 7}}}, "shaped as the input"},
      {"plane_gather", {{f, {2, 3, 5}}, {i, {2, 3, 5}}}, {}, {}, "must be i32"},
      {"plane_gather", {{f, {2, 3, 5}}, {DType::i32, {2, 4, 5}}}, {}, {}, "equal B and C"},
      {"plane_scatter", {{DType::i32, {2, 3, 4}}, {f, {2, 3, 5}}}, {}, {{f, {2, 3, 5}}}, "one shape"},
      {"iota", {}, {{"axis", std::int64_t{1}}}, {{i, {3}}}, "outside"},
      {"size", {}, {{"factor", std::int64_t{1}}, {"symbol", std::string("Q")}}, {{f, {}}}, "B or N"},
      {"select", {{f, {3}}, {f, {3}}, {f, {3}}}, {}, {}, "must be bool"},
      {"cast", {{f, {3}}}, {}, {{i, {4}}}, "keeps the shape"},
      {"logical_not", {{f, {3}}}, {}, {}, "needs bool"},
      {"random_uniform", {{i, {}}, {f, {}}}, {{"stream", std::int64_t{0}}}, {{f, {3}}}, "i64 scalars"},
      {"random_bernoulli",
       {{i, {}}, {i, {}}},
       {{"p", 1.5}, {"stream", std::int64_t{0}}},
       {{DType::boolean, {3}}},
       "[0, 1]"},
      {"random_at",
       {{i, {2}}, {i, {2}}, {i, {3}}},
       {{"stream", std::int64_t{0}}, {"word", std::int64_t{0}}},
       {},
       "of one shape"},
      {"random_at",
       {{i, {2}}, {i, {2}}, {i, {2}}},
       {{"stream", std::int64_t{0}}, {"word", std::int64_t{4}}},
       {},
       "word must be 0..3"},
      {"random_normal", {{i, {}}, {i, {}}}, {{"stream", std::int64_t{-1}}}, {{f, {3}}}, "32 bits"},
  };
  for (const auto& c : cases) {
    std::vector<Tensor> inputs;
    for (const auto& type : c.inputs) inputs.push_back(zeros(type.shape, type.dtype));
    const TensorType* declared = c.declared.empty() ? nullptr : &c.declared[0];
    const std::string said = error_of([&] { ir::make_node(*ops::find_op(c.op), inputs, c.attrs, declared); });
    EXPECT_EQ(said.rfind(std::string(c.op) + ": ", 0), 0U) << said;
    EXPECT_NE(said.find(c.rule), std::string::npos) << said << " lacks: " << c.rule;
  }
}

}  // namespace
}  // namespace tightloop
