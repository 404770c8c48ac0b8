// SPDX-License-Identifier: Apache-2.0
// Reinforcement learning (REINFORCE, Williams 1992): the environment is C++, the policy and its update are
// compiled. A network learns to balance poles on carts from nothing but how long they stood.
#include <tightloop/tightloop.h>

#include <cstdio>

#include "cart_pole.h"

namespace tl = tightloop;
using tl::Tensor;

// Each pole from a new start until it falls. `act`: f32[poles, 4] → actions i64[poles].
template <class Act>
Experience play(CartPoles& poles, Act& act) {
  // The poles' own memory: neither what `act` reads nor what it returns is copied.
  const Tensor states = tl::Array::borrow(tl::DType::f32, {poles.count(), 4}, poles.data());
  Experience rows;
  poles.reset();
  for (int t = 0; t < CartPoles::kSteps && poles.standing() > 0; ++t) {
    const Tensor actions = act(states);
    for (std::size_t i = 0; i < std::size_t(poles.count()); ++i) {
      if (!poles.stands(i)) continue;
      const std::int64_t action = actions.array().as<std::int64_t>()[i];
      rows.add(i, poles[i], action);
      poles.push(i, action);
    }
  }
  rows.look_back(poles.count(), 0.99F);
  return rows;
}

int main() {
  tl::nn::Sequential policy(tl::nn::Linear(4, 64), tl::nn::Tanh(), tl::nn::Linear(64, 2));
  policy.initialize(1);
  const tl::Generator random(1);
  tl::optim::State adam(tl::optim::Adam({.lr = 1e-2}), policy.variables());
  auto explore = tl::compile([&](const Tensor& states) { return random.categorical(policy(states)); });
  auto best = tl::compile([&](const Tensor& states) { return tl::argmax(policy(states), 1); });
  auto improve = tl::loop(
      [&](const Tensor& seen, const Tensor& done, const Tensor& reward) {
        const Tensor advantage = (reward - tl::mean(reward)) / (tl::sqrt(tl::variance(reward)) + 1e-6);
        adam.minimize(-tl::mean(tl::take_last(tl::log_softmax(policy(seen), 1), done) * advantage));
      },
      {.batch = 0});  // all rows in one step, however many there are

  CartPoles poles(32, 1), fresh(100, 2);
  for (double mean = 0, round = 1; round <= 300 && mean < 0.97 * CartPoles::kSteps; ++round) {
    Experience rows = play(poles, explore);
    mean = double(rows.rows()) / double(poles.count());
    if (int(round) % 10 == 0) std::printf("round %3.0f: poles stand for %3.0f steps\n", round, mean);
    improve.run(1, tl::Array::borrow(tl::DType::f32, {rows.rows(), 4}, rows.seen.data()),
                tl::Array::borrow(tl::DType::i64, {rows.rows()}, rows.done.data()),
                tl::Array::borrow(tl::DType::f32, {rows.rows()}, rows.reward.data()));
  }
  const double mean = double(play(fresh, best).rows()) / double(fresh.count());
  std::printf("100 new poles stand for %.1f of %d steps\n", mean, CartPoles::kSteps);
  return mean >= 0.95 * CartPoles::kSteps ? 0 : 1;
}
