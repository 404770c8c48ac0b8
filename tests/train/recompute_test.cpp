// SPDX-License-Identifier: Apache-2.0
// Values computed again for the backward: not a bit changes, and less is held.
#include <tests/support/files.h>
#include <tightloop/nn/nn.h>
#include <tightloop/optim/optimizer.h>
#include <tightloop/train/forward_model.h>
#include <tightloop/train/session.h>

#include <functional>

namespace tightloop::train {
namespace {

using What = Recompute::What;

struct Net {
  const char* name;
  const char* forward;
  std::vector<std::int64_t> x;  ///< a sample
  std::int64_t classes;         ///< of x, when x are tokens, and of y
  bool tokens;
  std::vector<std::string> layers;  ///< for What::layers
};

const std::vector<Net>& nets() {
  static const std::vector<Net> list{
      {"mlp",
       "h = dropout(gelu(layer_norm(linear(x, 48))), 0.3)\nh = dropout(gelu(layer_norm(linear(h, 48))), "
       "0.3)\n"
       "h = tanh(linear(h, 48))\nh = dropout(gelu(linear(h, 48)), 0.2)\nh = gelu(linear(h, 48))\n"
       "h = gelu(linear(h, 48))\ny = linear(h, 5)",
       {20},
       5,
       false,
       {"layer_norm*"}},
      {"resnet", "y = resnet18(x, classes=4, stem=\"cifar\", width=8)", {3, 8, 8}, 4, false, {"*layer1*"}},
      {"gpt",
       "y = transpose(gpt(x, 11, n_layer=4, n_head=2, n_embd=16, dropout=0.1), 1, 2)",
       {12},
       11,
       true,
       {"gpt0.?"}},
  };
  return list;
}

data::Dataset data_of(const Net& net, std::int64_t rows) {
  std::vector<std::int64_t> dims{rows};
  dims.insert(dims.end(), net.x.begin(), net.x.end());
  Array x(net.tokens ? DType::i64 : DType::f32, dims);
  Array y(DType::i64, net.tokens ? dims : std::vector<std::int64_t>{rows});
  for (std::int64_t i = 0; i < x.count(); ++i)
    net.tokens ? x.set_int(i, (i * 7 + i / 5) % net.classes)
               : x.set(i, static_cast<double>(i * 37 % 101) / 50 - 1);
  for (std::int64_t i = 0; i < y.count(); ++i) y.set_int(i, (i * 3 + i / 7) % net.classes);
  return data::Dataset({{"x", x}, {"y", y}});
}

struct Outcome {
  std::vector<std::pair<std::string, Array>> states;
  MemoryReport memory;
};

/// Three steps from the same first weights.
Outcome train(const Net& net, const Recompute& what, int threads, Backend backend = Backend::cpu) {
  constexpr std::int64_t batch = 40;
  const DataPart part{data_of(net, 2 * batch)};
  Job::Model job;
  job.forward.text = net.forward;
  std::vector<Dim> dims{Dim::batch()};
  dims.insert(dims.end(), net.x.begin(), net.x.end());
  ForwardModel model(job, {{"x", {net.tokens ? DType::i64 : DType::f32, Shape(dims)}}});
  model.initialize(3);
  SessionOptions options{.batch = batch, .epochs = 2};
  options.compile.backend = backend;
  options.compile.threads = threads;
  options.compile.recompute = what;
  const Model of = model.model();
  Session session(of, nn::make_loss("cross_entropy"), *optim::make_optimizer("adam", {{"lr", 0.01}}),
                  DataSpec::of(part.data), part, options);
  session.run(3);
  Outcome out;
  for (const auto& [name, array] : session.states()) out.states.emplace_back(name, array.clone());
  out.memory = session.program().memory({batch, 2 * batch});
  return out;
}

void expect_same(const Outcome& a, const Outcome& b, const std::string& what) {
  ASSERT_EQ(a.states.size(), b.states.size());
  for (std::size_t i = 0; i < a.states.size(); ++i)
    EXPECT_TRUE(identical(a.states[i].second, b.states[i].second)) << what << ": " << a.states[i].first;
}

class RecomputeNets : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Net& net() const { return nets()[GetParam()]; }
};

TEST_P(RecomputeNets, ChangesNoBit) {
  const Outcome plain = train(net(), {}, 1);
  EXPECT_EQ(plain.memory.recomputed, 0);
  for (const What what : {What::cheap, What::blocks, What::layers})
    for (const int threads : {1, 2}) {
      const Recompute again{what, what == What::layers ? net().layers : std::vector<std::string>()};
      expect_same(train(net(), again, threads), plain,
                  std::string(net().name) + " " + std::to_string(static_cast<int>(what)));
    }
}

TEST_P(RecomputeNets, AgreesWithTheInterpreter) {
  const Outcome compiled = train(net(), {What::blocks, {}}, 2);
  const Outcome plain = train(net(), {What::blocks, {}}, 1, Backend::reference);
  for (std::size_t i = 0; i < plain.states.size(); ++i) {
    const Array &a = compiled.states[i].second, &b = plain.states[i].second;
    for (std::int64_t k = 0; is_floating(a.dtype()) && k < a.count(); ++k)
      ASSERT_NEAR(a.at(k), b.at(k), 2e-2 + 2e-2 * std::abs(b.at(k))) << plain.states[i].first << " " << k;
  }
}

TEST_P(RecomputeNets, HoldsLess) {
  const MemoryReport plain = train(net(), {}, 1).memory, again = train(net(), {What::blocks, {}}, 1).memory;
  EXPECT_LT(again.temporaries, plain.temporaries);
  EXPECT_GT(again.recomputed, 0);
  EXPECT_LT(again.recomputed, 0.5);  // a forward is a third of a step at most
}

std::string name_of(const ::testing::TestParamInfo<std::size_t>& info) { return nets()[info.param].name; }
INSTANTIATE_TEST_SUITE_P(All, RecomputeNets, ::testing::Range<std::size_t>(0, 3), name_of);

TEST(Recompute, NamesTheLayersItKnows) {
  const Net& net = nets()[0];
  EXPECT_ERROR(train(net, {What::layers, {"layernorm0"}}, 1), "no layer matches 'layernorm0'");
  EXPECT_ERROR(train(net, {What::layers, {"layernorm0"}}, 1), "layer_norm0");
}

}  // namespace
}  // namespace tightloop::train
