// SPDX-License-Identifier: Apache-2.0
// A controller learned through a simulation: a pendulum that hangs down is swung up and held there. The
// simulation is written with the library's operations, scan() runs it over time, and the gradient of what the
// whole swing costs goes back through every step of it.
#include <tightloop/tightloop.h>

#include <cmath>
#include <cstdio>
#include <numbers>

namespace tl = tightloop;
using tl::Tensor;

constexpr std::int64_t kSteps = 100;  // of 0.05 s

// Angle (0: upright) and turning speed, [n] each.
using State = std::pair<Tensor, Tensor>;

int main() {
  tl::nn::Sequential policy(tl::nn::Linear(3, 32), tl::nn::Tanh(), tl::nn::Linear(32, 32), tl::nn::Tanh(),
                            tl::nn::Linear(32, 1));
  policy.initialize(1);
  auto torque = [&](const State& s) {  // at most 5
    const Tensor seen = tl::stack({tl::sin(s.first), tl::cos(s.first), s.second * 0.25}, 1);
    return 5.0 * tl::tanh(tl::squeeze(policy(seen), 1));
  };
  // One step of a pendulum of 1 kg and 1 m, and what it costs: [n].
  auto step = [&](const State& s) {
    const Tensor push = torque(s);
    const Tensor speed = s.second + 0.05 * (14.7 * tl::sin(s.first) + 3.0 * push);
    const Tensor angle = s.first + 0.05 * speed;
    const Tensor cost = 1.0 - tl::cos(angle) + 0.01 * tl::square(speed) + 0.001 * tl::square(push);
    return std::pair(State(angle, speed), cost);
  };

  const tl::Generator random(2);
  const auto start = [&](std::int64_t n) {  // hanging, nearly at rest
    return State{std::numbers::pi + random.uniform({n}, -0.5, 0.5), random.uniform({n}, -0.5, 0.5)};
  };
  const int updates = 300;
  tl::optim::State adam(tl::optim::Adam({.lr = 5e-3}), policy.variables(),
                        {.schedule = tl::optim::make_schedule("cosine"), .steps = updates});
  auto train = tl::loop([&] {
    const Tensor cost = tl::mean(tl::scan(step, start(64), kSteps).second);
    adam.update(tl::optim::clip_by_global_norm(tl::gradients(cost, policy.variables()), 1));
    return cost;
  });
  for (int i = 100; i <= updates; i += 100) std::printf("update %3d: cost %.3f\n", i, train.run(100).item());

  auto swing = tl::compile([&] { return tl::scan(step, start(256), kSteps).first; });
  const State last = swing();
  const Tensor upright = tl::logical_and(tl::cos(last.first) > 0.98, tl::abs(last.second) < 0.5);
  const double share = tl::mean(tl::cast(upright, tl::DType::f32)).item();
  std::printf("%.0f %% of 256 pendulums stand upright after 5 s\n", 100 * share);
  return share > 0.95 ? 0 : 1;
}
