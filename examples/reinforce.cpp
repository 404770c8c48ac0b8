// SPDX-License-Identifier: Apache-2.0
// Reinforcement learning (REINFORCE, Williams 1992): the environment is C++, the policy and its update are
// compiled. A network learns to balance poles on carts from nothing but how long they stood.
//   example_reinforce [SEED]
#include <tightloop/tightloop.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cart_pole.h"

namespace tl = tightloop;
using tl::Tensor;

// A row for each step of each pole: what was seen, what was done, and the reward from there on.
struct Experience {
  std::vector<std::array<float, 4>> seen;
  std::vector<std::int64_t> done;
  std::vector<float> reward;
};

// Each pole from a new start until it falls. `act` maps the poles' states to actions i64[poles].
template <class Act>
Experience play(CartPoles& poles, Act& act) {
  // The poles' own memory: what `act` reads is not copied, nor is what it returns.
  const Tensor states = tl::Array::borrow(tl::DType::f32, {poles.count(), 4}, poles.data());
  Experience rows;
  std::vector<std::vector<std::size_t>> own(std::size_t(poles.count()));  // the rows of each pole
  poles.reset();
  for (int t = 0; t < CartPoles::kSteps && poles.standing() > 0; ++t) {
    const Tensor actions = act(states);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!poles.stands(i)) continue;
      own[i].push_back(rows.seen.size());
      rows.seen.push_back(poles[i]);
      rows.done.push_back(actions.array().as<std::int64_t>()[i]);
      poles.push(i, rows.done.back());
    }
  }
  rows.reward.resize(rows.seen.size());
  for (const auto& pole : own) {
    float to_come = 0;
    for (auto row = pole.rbegin(); row != pole.rend(); ++row)
      rows.reward[*row] = to_come = 1 + 0.99F * to_come;
  }
  return rows;
}

int main(int argc, char** argv) {
  const std::uint64_t seed = argc > 1 ? std::uint64_t(std::atoll(argv[1])) : 1;
  tl::nn::Sequential policy(tl::nn::Linear(4, 64), tl::nn::Tanh(), tl::nn::Linear(64, 2));
  policy.initialize(seed);
  const tl::Generator random(seed);
  tl::optim::State adam(tl::optim::Adam({.lr = 1e-2}), policy.variables());

  auto explore = tl::compile([&](const Tensor& states) { return random.categorical(policy(states)); });
  auto best = tl::compile([&](const Tensor& states) { return tl::argmax(policy(states), 1); });
  auto improve = tl::loop(
      [&](const Tensor& seen, const Tensor& done, const Tensor& reward) {
        const Tensor advantage = (reward - tl::mean(reward)) / (tl::sqrt(tl::variance(reward)) + 1e-6);
        const Tensor chosen = tl::take_last(tl::log_softmax(policy(seen), 1), done);
        adam.minimize(-tl::mean(chosen * advantage));
      },
      {.batch = 0});  // all rows in one step, however many there are

  CartPoles poles(32, seed);
  double mean = 0;
  for (int round = 1; round <= 300 && mean < 0.97 * CartPoles::kSteps; ++round) {
    Experience rows = play(poles, explore);
    const auto n = std::int64_t(rows.seen.size());
    mean = double(n) / double(poles.count());
    if (round % 10 == 0) std::printf("round %3d: poles stand for %3.0f steps\n", round, mean);
    improve.run(1, tl::Array::borrow(tl::DType::f32, {n, 4}, rows.seen.data()),
                tl::Array::borrow(tl::DType::i64, {n}, rows.done.data()),
                tl::Array::borrow(tl::DType::f32, {n}, rows.reward.data()));
  }
  CartPoles fresh(100, seed + 1);
  mean = double(play(fresh, best).seen.size()) / 100;
  std::printf("100 new poles stand for %.1f of %d steps\n", mean, CartPoles::kSteps);
  return mean >= 0.95 * CartPoles::kSteps ? 0 : 1;
}
