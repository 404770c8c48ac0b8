// SPDX-License-Identifier: Apache-2.0
// Every layer in mixed precision: compiled against interpreted, and both near f32.
#include <tests/support/evaluate.h>
#include <tests/support/layer_cases.h>
#include <tightloop/engine/autocast.h>
#include <tightloop/nn/layers/layer.h>
#include <tightloop/passes/differentiate.h>

#include <map>

namespace tightloop::nn {
namespace {

using testing::Case;

double largest(const Array& a) {
  double out = 0;
  for (std::int64_t i = 0; i < a.count(); ++i) out = std::max(out, std::abs(a.at(i)));
  return out;
}

class MixedLayers : public ::testing::TestWithParam<std::tuple<DType, bool>> {};
INSTANTIATE_TEST_SUITE_P(All, MixedLayers,
                         ::testing::Combine(::testing::Values(DType::bf16, DType::f16), ::testing::Bool()),
                         [](const auto& info) {
                           return std::string(name(std::get<0>(info.param))) +
                                  (std::get<1>(info.param) ? "_half_model" : "_products");
                         });

TEST_P(MixedLayers, AgreeOnEveryBackendAndAreNearF32) {
  const auto [low, between] = GetParam();
  const AutocastOptions options{.low = low, .between_layers = between};
  // A few roundings of 2^-9 (bf16) or 2^-12 of the largest value, which sums carry on.
  const double step = low == DType::bf16 ? 0x1p-8 : 0x1p-11;
  std::map<std::string, int> met;
  for (const Case& c : testing::layer_cases()) {
    if (c.at("x").dtype() == DType::i64 || ++met[c.name] > 1) continue;
    SCOPED_TRACE(c.text);
    const auto layer = make_layer(c.name, c.options, testing::type_of({c.at("x"), true}));
    for (const auto& s : layer->states()) s.assign(c.at("value." + s.path));
    const auto function = [&](bool mixed) {
      return [&, mixed](const std::vector<Tensor>& in) {
        Tensor y = (*layer)(in[0]);
        if (mixed) y = autocast(y, options);
        return std::vector<Tensor>{y, gradients(sum(y * in[1]), {in[0]})[0]};
      };
    };
    Array upstream(DType::f32, c.at("y").dims());
    for (std::int64_t i = 0; i < upstream.count(); ++i) upstream.set(i, std::sin(1.0 + 2.7 * double(i)));
    const std::vector<testing::Feed> feeds{{c.at("x"), true}, {upstream, true}};
    const auto backends = testing::backends();
    const auto exact = testing::evaluate(backends[0], feeds, function(false));
    const auto oracle = testing::evaluate(backends[0], feeds, function(true));
    const auto compiled = testing::evaluate(backends[1], feeds, function(true));
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const double size = std::max(largest(exact[i]), 1e-3);
      testing::expect_close(compiled[i], oracle[i], 2 * step, 8 * step * size);
      testing::expect_close(oracle[i], exact[i], 8 * step, 16 * step * size);
    }
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tightloop::nn
