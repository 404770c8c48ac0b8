// SPDX-License-Identifier: Apache-2.0
// Every layer that a forward text may call, in evaluation, against PyTorch: output and all gradients.
#include <tests/support/cases.h>
#include <tests/support/evaluate.h>
#include <tests/support/layer_cases.h>
#include <tightloop/nn/layers/layer.h>
#include <tightloop/passes/differentiate.h>

#include <set>

namespace tightloop::nn {
namespace {

using testing::Case;

/// Elements within `loose` times 3e-6 of the wanted ones, where they cancel within as much of the largest or
/// 1e-6.
void expect_alike(const Array& got, const Array& wanted, double loose) {
  double largest = 0;
  for (std::int64_t i = 0; i < wanted.count(); ++i)
    if (std::isfinite(wanted.at(i))) largest = std::max(largest, std::abs(wanted.at(i)));
  testing::expect_close(got, wanted, loose * 3e-6, loose * std::max(1e-6, 3e-6 * largest));
}

class LayerFixtures : public ::testing::TestWithParam<CompileOptions> {};

TEST_P(LayerFixtures, AgreeWithPyTorch) {
  std::set<std::string> seen;
  for (const Case& c : testing::layer_cases()) {
    SCOPED_TRACE(c.text + " x " + c.at("x").type_string());
    seen.insert(c.name);
    const Options& dim = c.options;
    const bool batched = !(dim.has("dim") && dim.at<std::int64_t>("dim") == 0);
    const testing::Feed x{c.at("x"), batched}, upstream{c.at("upstream"), batched};
    const auto layer = make_layer(c.name, c.options, testing::type_of(x));
    const auto parameters = layer->parameters();
    for (const auto& s : layer->states()) s.assign(c.at("value." + s.path));
    const auto out = testing::evaluate(GetParam(), {x, upstream}, [&](const std::vector<Tensor>& in) {
      const Tensor y = (*layer)(in[0]);
      std::vector<Tensor> wrt;
      if (is_floating(in[0].dtype())) wrt.push_back(in[0]);
      for (const auto& p : parameters) wrt.push_back(p.parameter->value());
      std::vector<Tensor> outputs{y};
      for (const Tensor& g : gradients(sum(y * in[1]), wrt)) outputs.push_back(g);
      return outputs;
    });
    // Sums in another order, divided by their spread; and layers of layers.
    const bool deep = c.name == "multihead_attention" || parameters.size() > 2;
    const double loose = c.name.ends_with("_norm") || deep ? 5 : 1;
    expect_alike(out[0], c.at("y"), loose);
    std::size_t next = 1;
    if (const Array* gradient = c.find("gradient")) expect_alike(out.at(next++), *gradient, loose);
    for (const auto& p : parameters) expect_alike(out.at(next++), c.at("gradient." + p.path), loose);
  }
  for (const LayerDef* def : all_layers()) EXPECT_TRUE(seen.contains(std::string(def->name))) << def->name;
}

INSTANTIATE_TEST_SUITE_P(Backends, LayerFixtures, ::testing::ValuesIn(testing::backends()),
                         testing::backend_name);

}  // namespace
}  // namespace tightloop::nn
