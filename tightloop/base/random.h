// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

namespace tightloop {

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
/// counter and key name the block; the same four words come out everywhere.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                              std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

/// Block `index` of stream `stream` at step `step` under `seed`: counter = (index low, index high
/// xor step high, step low, stream), key = seed.
constexpr std::array<std::uint32_t, 4> philox_block(std::uint64_t seed, std::uint32_t stream,
                                                    std::uint64_t step, std::uint64_t index) {
  return philox({static_cast<std::uint32_t>(index),
                 static_cast<std::uint32_t>(index >> 32) ^ static_cast<std::uint32_t>(step >> 32),
                 static_cast<std::uint32_t>(step), stream},
                {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

/// Uniform in [0, 1): the word's upper 24 bits.
constexpr float uniform_f32(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
/// Uniform in [0, 1): 53 bits of two words.
constexpr double uniform_f64(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>(((std::uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

}  // namespace tightloop
