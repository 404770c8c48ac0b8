// SPDX-License-Identifier: Apache-2.0
// Layers that behave otherwise in training, against PyTorch: two steps, all gradients, and the buffers after
// each.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tightloop/engine/compile.h>
#include <tightloop/engine/gradients.h>
#include <tightloop/nn/context.h>
#include <tightloop/nn/layers/layer.h>

#include <set>

namespace tightloop::nn {
namespace {

using testing::Case;

class TrainingFixtures : public ::testing::TestWithParam<CompileOptions> {};

void expect_buffers(Layer& layer, const Case& c, const std::string& when) {
  for (const auto& b : layer.buffers())
    testing::expect_close(b.buffer->array(), c.at(when + b.path), 3e-6, 1e-6);
}

/// The layer on x, as a training step has it; then gradients of sum(y · upstream).
std::vector<Tensor> forward_backward(Layer& layer, const Tensor& x, const Tensor& upstream) {
  Context context(true);
  const Tensor y = layer(x);
  std::vector<Tensor> wrt{x};
  for (const auto& p : layer.parameters()) wrt.push_back(p.parameter->value());
  std::vector<Tensor> out{y};
  for (const Tensor& g : gradients(sum(y * upstream), wrt)) out.push_back(g);
  return out;
}

TEST_P(TrainingFixtures, AgreeWithPyTorch) {
  std::set<std::string> seen;
  for (const Case& c : testing::read_cases("training")) {
    SCOPED_TRACE(c.text + " x " + c.at("x").type_string());
    const auto layer = make_layer(c.name, c.options, testing::type_of({c.at("x"), true}));
    for (const auto& s : layer->states()) s.assign(c.at("value." + s.path));
    auto step = compile([&](const Tensor& x, const Tensor& up) { return forward_backward(*layer, x, up); },
                        {.batch = true, .compile = GetParam()});
    const std::vector<Tensor> first = step(Tensor(c.at("x")), Tensor(c.at("upstream")));
    const double coarse = std::abs(c.at("x").at(0)) > 100 ? 1e-3 : 3e-6;
    testing::expect_close(first[0].array(), c.at("y"), coarse, coarse);
    testing::expect_close(first[1].array(), c.at("gradient"), coarse, coarse);
    std::size_t next = 2;
    for (const auto& p : layer->parameters())
      testing::expect_close(first.at(next++).array(), c.at("gradient." + p.path), 4 * coarse, 2 * coarse);
    expect_buffers(*layer, c, "first.");
    const Array& x2 = c.at("x2");
    testing::expect_close(step(Tensor(x2), Tensor(Array(DType::f32, x2.dims())))[0].array(), c.at("y2"),
                          coarse, coarse);
    expect_buffers(*layer, c, "second.");
    seen.insert(c.name);
  }
  EXPECT_TRUE(seen.contains("batch_norm") && seen.contains("instance_norm"));
}

TEST_P(TrainingFixtures, WithoutATraceBuffersMoveAtOnce) {
  for (const Case& c : testing::read_cases("training")) {
    SCOPED_TRACE(c.text);
    const auto layer = make_layer(c.name, c.options, testing::type_of({c.at("x")}));
    for (const auto& s : layer->states()) s.assign(c.at("value." + s.path));
    Context context(true);
    (*layer)(Tensor(c.at("x")));
    expect_buffers(*layer, c, "first.");
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, TrainingFixtures, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace tightloop::nn
