// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tightloop::backends::cpu {

/// Which kernels wait for which, directly or not: one row of bits a kernel. Kept closed while kernels and
/// edges are added, in a word of work for 64 kernels.
class Depends {
 public:
  std::size_t size() const { return rows_.size(); }
  void add_kernel() { rows_.emplace_back(); }

  bool waits(std::size_t kernel, std::size_t on) const {
    const auto& row = rows_[kernel];
    return on / 64 < row.size() && (row[on / 64] >> (on % 64) & 1) != 0;
  }
  /// `kernel` waits for `on`, for all that `on` waits for; and so does whoever waits for `kernel`.
  void add(std::size_t kernel, std::size_t on) {
    if (kernel == on || waits(kernel, on)) return;
    std::vector<std::uint64_t> gained = rows_[on];
    if (gained.size() <= on / 64) gained.resize(on / 64 + 1);
    gained[on / 64] |= std::uint64_t{1} << (on % 64);
    for (std::size_t x = 0; x < rows_.size(); ++x)
      if (x == kernel || waits(x, kernel)) merge(rows_[x], gained);
  }
  /// How many kernels it waits for.
  std::size_t count(std::size_t kernel) const {
    std::size_t n = 0;
    for (const std::uint64_t word : rows_[kernel]) n += static_cast<std::size_t>(std::popcount(word));
    return n;
  }

 private:
  static void merge(std::vector<std::uint64_t>& row, const std::vector<std::uint64_t>& gained) {
    if (row.size() < gained.size()) row.resize(gained.size());
    for (std::size_t w = 0; w < gained.size(); ++w) row[w] |= gained[w];
  }

  std::vector<std::vector<std::uint64_t>> rows_;
};

}  // namespace tightloop::backends::cpu
