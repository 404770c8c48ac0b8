// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/batchwise.h>
#include <tightloop/backends/cpu/plan/layout.h>

#include <algorithm>

namespace tightloop::backends::cpu {
namespace {

constexpr std::size_t kAlignment = 64;
/// Vector code may read a whole vector at the last element of a temporary.
constexpr std::size_t kSlack = 64;
/// A layout that takes less than one part in so many more than it must is good enough.
constexpr std::size_t kGoodEnough = 30;

std::int64_t elements(const Buffer& b, const Sizes& sizes) {
  if (!b.panels) return b.type.shape.count(sizes);
  const std::int64_t panels = (b.type.shape[1].factor + kPanelColumns - 1) / kPanelColumns;
  return b.type.shape[0].factor * panels * kPanelColumns;
}

/// Buffers of one kind and when they live.
class Packing {
 public:
  Packing(const Plan& plan, Buffer::Kind kind, const Sizes& sizes)
      : plan_(plan), bytes_(plan.buffers.size()), at_(plan.buffers.size()) {
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
      const Buffer& b = plan.buffers[i];
      if (b.kind != kind) continue;
      const std::size_t exact = static_cast<std::size_t>(elements(b, sizes)) * size_of(b.type.dtype);
      bytes_[i] = (exact + kSlack + kAlignment - 1) / kAlignment * kAlignment;
      order_.push_back(i);
    }
  }

  /// Bytes alive at the same time, at most.
  std::size_t live() const {
    int end = 0;
    for (const std::size_t i : order_) end = std::max(end, plan_.buffers[i].last + 1);
    std::vector<std::ptrdiff_t> change(static_cast<std::size_t>(end) + 1);
    for (const std::size_t i : order_) {
      change[static_cast<std::size_t>(plan_.buffers[i].first)] += static_cast<std::ptrdiff_t>(bytes_[i]);
      change[static_cast<std::size_t>(plan_.buffers[i].last) + 1] -= static_cast<std::ptrdiff_t>(bytes_[i]);
    }
    std::ptrdiff_t now = 0, most = 0;
    for (const std::ptrdiff_t c : change) most = std::max(most, now += c);
    return static_cast<std::size_t>(most);
  }

  /// Places the buffers in the order of `rank`, the greatest first, each where it fits beside those alive at
  /// the same time; what they take together.
  template <class Rank>
  std::size_t place(Rank rank) {
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      const auto x = rank(a), y = rank(b);
      return x != y ? x > y : a < b;
    });
    placed_.clear();
    std::size_t total = 0;
    for (const std::size_t i : order_) total = std::max(total, place_one(i));
    return total;
  }

  double bytes(std::size_t i) const { return static_cast<double>(bytes_[i]); }
  double lifetime(std::size_t i) const { return plan_.buffers[i].last - plan_.buffers[i].first + 1; }
  double first(std::size_t i) const { return plan_.buffers[i].first; }

  void write(std::vector<std::ptrdiff_t>& offsets) const {
    for (const std::size_t i : order_) offsets[i] = static_cast<std::ptrdiff_t>(at_[i]);
  }

 private:
  struct Block {
    std::size_t begin, end;
    int first, last;
  };

  std::size_t place_one(std::size_t i) {
    const Buffer& b = plan_.buffers[i];
    std::size_t at = 0;
    for (const Block& p : placed_) {
      if (at + bytes_[i] <= p.begin) break;
      if (p.first <= b.last && b.first <= p.last) at = std::max(at, p.end);
    }
    const auto after = std::upper_bound(placed_.begin(), placed_.end(), at,
                                        [](std::size_t begin, const Block& p) { return begin < p.begin; });
    placed_.insert(after, {at, at + bytes_[i], b.first, b.last});
    at_[i] = at;
    return at + bytes_[i];
  }

  const Plan& plan_;
  std::vector<std::size_t> bytes_, at_;
  std::vector<std::size_t> order_;
  std::vector<Block> placed_;  ///< by where they begin
};

/// The best of some orders; the others are tried only where the first leaves more than a few hundredths.
std::size_t pack(const Plan& plan, Buffer::Kind kind, const Sizes& sizes, Layout& layout) {
  Packing packing(plan, kind, sizes);
  const std::size_t live = packing.live();
  const auto by_size = [&](std::size_t i) { return packing.bytes(i); };
  const auto by_area = [&](std::size_t i) { return packing.bytes(i) * packing.lifetime(i); };
  const auto by_life = [&](std::size_t i) { return packing.lifetime(i); };
  const auto by_start = [&](std::size_t i) { return -packing.first(i); };
  std::size_t best = packing.place(by_size);
  packing.write(layout.offsets);
  const auto attempt = [&](const auto& rank) {
    if (best <= live + live / kGoodEnough) return;
    const std::size_t total = packing.place(rank);
    if (total >= best) return;
    best = total;
    packing.write(layout.offsets);
  };
  attempt(by_area);
  attempt(by_life);
  attempt(by_start);
  return best;
}

}  // namespace

std::size_t live_bytes(const Plan& plan, const Sizes& most) {
  const Sizes sizes{most.batch, most.rows, most_groups(most.batch, plan.stretch)};
  return Packing(plan, Buffer::Kind::temporary, sizes).live();
}

Layout lay_out(const Plan& plan, const Sizes& most) {
  Layout layout{std::vector<std::ptrdiff_t>(plan.buffers.size(), -1)};
  const Sizes sizes{most.batch, most.rows, most_groups(most.batch, plan.stretch)};
  const Sizes stretch{std::min(sizes.batch, plan.stretch), sizes.rows, sizes.groups};
  layout.bytes = pack(plan, Buffer::Kind::temporary, sizes, layout);
  layout.local_bytes = pack(plan, Buffer::Kind::local, stretch, layout);
  return layout;
}

}  // namespace tightloop::backends::cpu
