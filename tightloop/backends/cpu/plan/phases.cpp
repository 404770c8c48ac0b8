// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/phases.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace tightloop::backends::cpu {
namespace {

/// Kernel numbers, each after what it waits for, else in their own order: which follows the graph depth
/// first, so that values are used soon after they are made.
std::vector<int> topological_order(const Depends& depends, const std::vector<std::vector<int>>& readers) {
  std::vector<std::size_t> missing;
  std::set<std::size_t> ready;
  for (std::size_t k = 0; k < depends.size(); ++k) {
    missing.push_back(depends.edges(k).size());
    if (missing[k] == 0) ready.insert(k);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(static_cast<int>(next));
    for (const int reader : readers[next])
      if (const auto k = static_cast<std::size_t>(reader); --missing[k] == 0) ready.insert(k);
  }
  return order;
}

/// By kernel: who waits for it directly.
std::vector<std::vector<int>> readers_of(const Depends& depends) {
  std::vector<std::vector<int>> readers(depends.size());
  for (std::size_t k = 0; k < depends.size(); ++k)
    for (const std::size_t on : depends.edges(k)) readers[on].push_back(static_cast<int>(k));
  return readers;
}

}  // namespace

PhaseOrder order_in_phases(const std::vector<Kernel>& kernels, const Depends& depends) {
  const std::vector<std::vector<int>> readers = readers_of(depends);
  const std::vector<int> order = topological_order(depends, readers);
  std::vector<int> level(kernels.size(), 0);
  const auto at = [](int k) { return static_cast<std::size_t>(k); };
  // Within a phase a batchwise kernel may follow batchwise ones.
  const auto distance = [&](int from, int to) {
    return kernels[at(from)].batchwise && kernels[at(to)].batchwise ? 0 : 1;
  };
  for (const int k : order)
    for (const std::size_t d : depends.edges(at(k)))
      level[at(k)] = std::max(level[at(k)], level[d] + distance(static_cast<int>(d), k));
  // A batchwise kernel moves on to the phase of its readers, where its values need not leave the cache; so
  // does what widens, as near as it can.
  for (auto k = order.rbegin(); k != order.rend(); ++k) {
    if (!kernels[at(*k)].batchwise && !kernels[at(*k)].late) continue;
    int latest = -1;
    for (const int reader : readers[at(*k)]) {
      const int bound = level[at(reader)] - distance(*k, reader);
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
