// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/phases.h>

#include <algorithm>
#include <numeric>
#include <tuple>

namespace tightloop::backends::cpu {
namespace {

using Depends = std::vector<std::unordered_set<int>>;

/// Kernel numbers, each after what it waits for and otherwise as they come, which is depth first: what is computed
/// block by block does not hold the values of all blocks at once.
std::vector<int> topological_order(const Depends& depends) {
  std::vector<int> order;
  std::vector<bool> placed(depends.size(), false);
  const auto place = [&](int k) {
    if (!placed[static_cast<std::size_t>(k)]) order.push_back(k);
    placed[static_cast<std::size_t>(k)] = true;
  };
  for (std::size_t k = 0; k < depends.size(); ++k) {
    std::vector<int> before;
    for (const int d : depends[k])
      if (!placed[static_cast<std::size_t>(d)]) before.push_back(d);
    // Dependencies are transitive: whoever waits for more comes later.
    std::sort(before.begin(), before.end(), [&](int a, int b) {
      return std::pair(depends[static_cast<std::size_t>(a)].size(), a) <
             std::pair(depends[static_cast<std::size_t>(b)].size(), b);
    });
    for (const int d : before) place(d);
    place(static_cast<int>(k));
  }
  return order;
}

}  // namespace

PhaseOrder order_in_phases(const std::vector<Kernel>& kernels, const Depends& depends) {
  const std::vector<int> order = topological_order(depends);
  std::vector<int> level(kernels.size(), 0);
  const auto at = [](int k) { return static_cast<std::size_t>(k); };
  // Within a phase a batchwise kernel may follow batchwise ones.
  const auto distance = [&](int from, int to) {
    return kernels[at(from)].batchwise && kernels[at(to)].batchwise ? 0 : 1;
  };
  for (const int k : order)
    for (const int d : depends[at(k)]) level[at(k)] = std::max(level[at(k)], level[at(d)] + distance(d, k));
  // A batchwise kernel moves on to the phase of its readers, where its values need not leave the cache.
  for (auto k = order.rbegin(); k != order.rend(); ++k) {
    if (!kernels[at(*k)].batchwise) continue;
    int latest = -1;
    for (std::size_t reader = 0; reader < kernels.size(); ++reader) {
      if (!depends[reader].contains(*k)) continue;
      const int bound = level[reader] - distance(*k, static_cast<int>(reader));
      latest = latest < 0 ? bound : std::min(latest, bound);
    }
    level[at(*k)] = std::max(level[at(*k)], latest);
  }
  PhaseOrder out;
  out.kernels = order;
  const auto rank = [&](int k) { return std::tuple(level[at(k)], !kernels[at(k)].batchwise); };
  std::stable_sort(out.kernels.begin(), out.kernels.end(), [&](int a, int b) { return rank(a) < rank(b); });
  for (std::size_t i = 0; i < out.kernels.size(); ++i) {
    const int k = out.kernels[i];
    const auto here = static_cast<int>(i);
    if (i == 0 || level[at(k)] != level[at(out.kernels[i - 1])]) out.phases.push_back({here, here, here});
    Phase& phase = out.phases.back();
    phase.last = here + 1;
    if (kernels[at(k)].batchwise) phase.whole = here + 1;
  }
  return out;
}

}  // namespace tightloop::backends::cpu
