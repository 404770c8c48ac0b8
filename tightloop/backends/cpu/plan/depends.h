// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tightloop::backends::cpu {

/// Which kernels wait for which, directly or not: one row of bits a kernel. Kept closed while kernels and
/// edges are added, in a word of work for 64 kernels.
class Depends {
 public:
  std::size_t size() const { return rows_.size(); }
  void add_kernel() {
    rows_.emplace_back();
    edges_.emplace_back();
  }
  /// Kernels that it waits for directly: enough of them that the others follow.
  const std::vector<std::size_t>& edges(std::size_t kernel) const { return edges_[kernel]; }

  bool waits(std::size_t kernel, std::size_t on) const {
    const auto& row = rows_[kernel];
    return on / 64 < row.size() && (row[on / 64] >> (on % 64) & 1) != 0;
  }
  /// `kernel` waits for `on`, for all that `on` waits for; and so does whoever waits for `kernel`.
  void add(std::size_t kernel, std::size_t on) {
    if (kernel == on || waits(kernel, on)) return;
    edges_[kernel].push_back(on);
    std::vector<std::uint64_t> gained = rows_[on];
    if (gained.size() <= on / 64) gained.resize(on / 64 + 1);
    gained[on / 64] |= std::uint64_t{1} << (on % 64);
    for (std::size_t x = 0; x < rows_.size(); ++x)
      if (x == kernel || waits(x, kernel)) merge(rows_[x], gained);
  }

 private:
  static void merge(std::vector<std::uint64_t>& row, const std::vector<std::uint64_t>& gained) {
    if (row.size() < gained.size()) row.resize(gained.size());
    for (std::size_t w = 0; w < gained.size(); ++w) row[w] |= gained[w];
  }

  std::vector<std::vector<std::uint64_t>> rows_;
  std::vector<std::vector<std::size_t>> edges_;
};

}  // namespace tightloop::backends::cpu
