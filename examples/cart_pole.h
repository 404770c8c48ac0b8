// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

/// Poles on carts that are pushed left or right (Barto, Sutton and Anderson, 1983), many side by side.
class CartPoles {
 public:
  static constexpr int kSteps = 500;  ///< of an episode

  CartPoles(std::size_t count, std::uint64_t seed) : states_(count), stands_(count), random_(seed) {}

  void reset() {
    std::uniform_real_distribution<float> near_zero(-0.05F, 0.05F);
    for (auto& state : states_)
      for (float& value : state) value = near_zero(random_);
    stands_.assign(states_.size(), true);
  }

  std::int64_t count() const { return std::int64_t(states_.size()); }
  std::int64_t standing() const { return std::count(stands_.begin(), stands_.end(), true); }
  bool stands(std::size_t i) const { return stands_[i]; }
  /// [count, 4]: place, speed, angle, turning speed. Their place in memory never changes.
  float* data() { return states_[0].data(); }
  const std::array<float, 4>& operator[](std::size_t i) const { return states_[i]; }

  /// 0.02 s later, pushed by 10 N to the left (0) or right (1). A pole has fallen when it leans 12 degrees or
  /// its cart is 2.4 m away.
  void push(std::size_t i, std::int64_t action) {
    auto& [x, speed, angle, turning] = states_[i];
    const float force = action == 1 ? 10.0F : -10.0F, sine = std::sin(angle), cosine = std::cos(angle);
    // A cart of 1 kg, a pole of 0.1 kg and 1 m.
    const float pull = (force + 0.05F * turning * turning * sine) / 1.1F;
    const float turn = (9.8F * sine - cosine * pull) / (0.5F * (4.0F / 3 - 0.1F * cosine * cosine / 1.1F));
    x += 0.02F * speed;
    speed += 0.02F * (pull - 0.05F * turn * cosine / 1.1F);
    angle += 0.02F * turning;
    turning += 0.02F * turn;
    stands_[i] = std::fabs(x) < 2.4F && std::fabs(angle) < 0.2094395F;
  }

 private:
  std::vector<std::array<float, 4>> states_;
  std::vector<bool> stands_;
  std::mt19937_64 random_;
};

/// What poles went through: a row for each step of each pole that stood, in the order of time.
struct Experience {
  std::vector<std::array<float, 4>> seen;
  std::vector<std::int64_t> done;
  std::vector<float> reward;  ///< from there on, where 1 is for each step and what comes later counts less
  std::vector<std::size_t> pole;

  std::int64_t rows() const { return std::int64_t(seen.size()); }
  void add(std::size_t of, const std::array<float, 4>& state, std::int64_t action) {
    seen.push_back(state);
    done.push_back(action);
    pole.push_back(of);
  }
  /// Fills in `reward`, for `poles` poles.
  void look_back(std::int64_t poles, float discount) {
    reward.resize(seen.size());
    std::vector<float> to_come(std::size_t(poles), 0.0F);
    for (std::size_t row = seen.size(); row-- > 0;) {
      float& r = to_come[pole[row]];
      reward[row] = r = 1 + discount * r;
    }
  }
};
