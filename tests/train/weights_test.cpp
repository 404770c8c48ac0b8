// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <tightloop/engine/compile.h>
#include <tightloop/nn/nn.h>
#include <tightloop/ops/functions.h>
#include <tightloop/optim/optim.h>
#include <tightloop/train/weights.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tightloop {
namespace {

std::string file(const char* name) { return (std::filesystem::path(testing::TempDir()) / name).string(); }

struct Loop {
  explicit Loop(std::uint64_t seed) : net(nn::Linear(3, 4), nn::Tanh(), nn::Linear(4, 1)) {
    net.initialize(seed);
    adam.emplace(optim::Adam({.lr = 0.1}), net.variables());
  }

  std::vector<Variable> everything() {
    std::vector<Variable> all = net.variables();
    for (const Variable& v : adam->states()) all.push_back(v);
    return all;
  }

  void run(int steps) {
    auto both = value_and_grad([&](const Tensor& x) { return mean(square(net(x) - 1.0)); }, net.variables());
    auto step = compile([&](const Tensor& x) {
      auto [loss, gradients] = both(x);
      adam->update(gradients);
      return loss;
    });
    const Tensor x = Array::of<float>({2, 3}, {1, 2, 3, -1, 0, 1});
    for (int i = 0; i < steps; ++i) step(x);
  }

  nn::Sequential net;
  std::optional<optim::State> adam;
};

bool equal(std::vector<Variable> a, std::vector<Variable> b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].name() != b[i].name() || !identical(a[i].array(), b[i].array())) return false;
  return a.size() == b.size();
}

TEST(Weights, ComeBackBitForBit) {
  Loop a(1);
  Loop b(2);
  EXPECT_FALSE(equal(a.net.variables(), b.net.variables()));
  save_weights(a.net, file("weights.safetensors"));
  load_weights(b.net, file("weights.safetensors"));
  EXPECT_TRUE(equal(a.net.variables(), b.net.variables()));
}

TEST(Weights, ALoopGoesOnWhereItStood) {
  Loop whole(1);
  whole.run(10);
  Loop first(1);
  first.run(4);
  save_variables(first.everything(), file("loop.safetensors"));
  Loop second(7);
  load_variables(second.everything(), file("loop.safetensors"));
  second.run(6);
  EXPECT_TRUE(equal(whole.everything(), second.everything()));
}

TEST(Weights, OfAnotherNetworkAreRefused) {
  Loop a(1);
  save_weights(a.net, file("weights.safetensors"));
  nn::Sequential other(nn::Linear(3, 5), nn::Tanh(), nn::Linear(5, 1));
  try {
    load_weights(other, file("weights.safetensors"));
    FAIL() << "loaded";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("0.weight: f32[4, 3]"), std::string::npos) << e.what();
  }
}

TEST(Weights, WithoutAValueAreNotSaved) {
  nn::Linear fresh(2, 3);
  EXPECT_THROW(save_weights(fresh, file("fresh.safetensors")), Error);
  EXPECT_FALSE(std::filesystem::exists(file("fresh.safetensors")));
}

}  // namespace
}  // namespace tightloop
