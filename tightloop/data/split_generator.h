// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tightloop::data {

/// SplitMix64 (Steele, Lea and Flood, 2014).
class SplitGenerator {
 public:
  explicit SplitGenerator(std::uint64_t seed) : state_(seed) {}

  /// The first `count` elements drawn by chance from all of them.
  template <class T>
  void shuffle(std::vector<T>& list, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      std::swap(list[i], list[i + static_cast<std::size_t>(below(list.size() - i))]);
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    shuffle(list, list.size());
  }
  /// Uniform in [0, n): draws again below 2^64 mod n, so that no value is favoured.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t reject = (0 - n) % n;
    for (;;) {
      const std::uint64_t x = next();
      if (x >= reject) return x % n;
    }
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace tightloop::data
