// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/plan/assembly.h>
#include <tightloop/backends/cpu/plan/cost.h>
#include <tightloop/backends/cpu/plan/forward.h>
#include <tightloop/backends/cpu/plan/schedule.h>

#include <algorithm>
#include <string_view>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

/// Instructions an element up to which a value counts as cheap; a random number takes 60.
constexpr double kCheap = 160;
/// Sizes of a segment that are tried, from all that is kept down to a thousandth of it.
constexpr int kTries = 32;
constexpr double kTryRatio = 0.8;
/// Cuts that save less than this share are not worth it.
constexpr double kLeastSaving = 0.1;

bool weighs(const StepNodes& step, std::size_t i) {
  return step.material(i) && !step.small(i) && step.base(i) == i;
}

/// Cuts the forward at its narrow places, so that what is kept at the cuts and the largest segment between
/// two of them, which is there as a whole while its backward runs, are least together.
class Cutter {
 public:
  explicit Cutter(const StepNodes& step) : step_(step) {
    for (std::size_t i = 0; i < step.size(); ++i)
      if (step.forward(i)) forward_.push_back(i);
    place_.assign(step.size(), 0);
    for (std::size_t p = 0; p < forward_.size(); ++p) place_[forward_[p]] = p;
    find_last();
    needed_.assign(forward_.size() + 1, 0);
    live_.assign(forward_.size() + 1, 0);
    for (std::size_t p = 0; p < forward_.size(); ++p) {
      const std::size_t i = forward_[p];
      needed_[p + 1] = needed_[p] + (weighs(step, i) && step.needed(i) ? step.bytes(i) : 0);
      if (!weighs(step, i)) continue;
      live_[p + 1] += step.bytes(i);
      live_[last_[i] + 1] -= step.bytes(i);
    }
    for (std::size_t p = 1; p < live_.size(); ++p) live_[p] += live_[p - 1];
  }

  Segments segments() const {
    std::vector<std::size_t> best;
    double least = (1 - kLeastSaving) * needed_.back(), most = needed_.back();
    for (int i = 0; i < kTries; ++i) {
      most *= kTryRatio;
      const std::vector<std::size_t> cuts = cut(most);
      if (const double bytes = kept_by(cuts); bytes < least) {
        least = bytes;
        best = cuts;
      }
    }
    return by(best);
  }

 private:
  void find_last() {
    last_ = place_;
    for (const std::size_t i : forward_)
      for (const Tensor& t : step_.node(i)->inputs) {
        const std::size_t from = step_.base(step_.number(t.id()));
        last_[from] = std::max(last_[from], last_use(i));
      }
  }
  /// A reshape is used where its readers are.
  std::size_t last_use(std::size_t i) const {
    std::size_t last = place_[i];
    if (step_.base(i) != i)
      for (const std::size_t r : step_.readers(i))
        if (step_.forward(r)) last = std::max(last, last_use(r));
    return last;
  }

  /// Places before which a segment begins, none of them keeping more than about `most` inside.
  std::vector<std::size_t> cut(double most) const {
    std::vector<std::size_t> cuts;
    std::size_t begin = 0;
    while (needed_.back() - needed_[begin] > most) {
      std::size_t best = 0;
      for (std::size_t p = begin + 1; p < forward_.size(); ++p) {
        const double inside = needed_[p] - needed_[begin];
        if (inside > most && best != 0) break;
        if (2 * inside >= most && (best == 0 || live_[p] <= live_[best])) best = p;
      }
      if (best == 0) break;
      cuts.push_back(best);
      begin = best;
    }
    return cuts;
  }

  double kept_by(const std::vector<std::size_t>& cuts) const {
    double kept = 0, largest = 0;
    std::size_t begin = 0;
    for (const std::size_t c : cuts) {
      kept += live_[c];
      largest = std::max(largest, needed_[c] - needed_[begin]);
      begin = c;
    }
    return kept + std::max(largest, needed_.back() - needed_[begin]);
  }

  /// What crosses a cut is kept; so is the last segment, whose backward comes right after it.
  Segments by(const std::vector<std::size_t>& cuts) const {
    Segments out(step_.size(), -1);
    for (const std::size_t i : forward_) {
      if (!step_.material(i) || step_.small(i)) continue;
      const auto cut = std::upper_bound(cuts.begin(), cuts.end(), place_[i]);
      if (cut == cuts.end()) continue;
      const bool crosses = step_.base(i) == i && last_[i] >= *cut;
      if (!crosses) out[i] = static_cast<int>(cut - cuts.begin());
    }
    return out;
  }

  const StepNodes& step_;
  std::vector<std::size_t> forward_;  ///< numbers, in order
  std::vector<std::size_t> place_;    ///< by number: where in forward_
  std::vector<std::size_t> last_;     ///< by number: the place of its last reader
  std::vector<double> needed_;        ///< bytes for the backward, of places before
  std::vector<double> live_;          ///< bytes that cross to this place
};

bool inside(std::string_view scope, std::string_view layer) {
  return scope.starts_with(layer) && (scope.size() == layer.size() || scope[layer.size()] == '.');
}

/// What only the same layer's forward reads is computed again.
Segments by_layers(const StepNodes& step, const std::vector<std::string>& layers) {
  Segments layer(step.size(), -1);
  for (std::size_t i = 0; i < step.size(); ++i)
    if (step.forward(i) && step.material(i))
      for (std::size_t l = 0; l < layers.size(); ++l)
        if (inside(step.node(i)->scope, layers[l])) layer[i] = static_cast<int>(l);
  Segments out = layer;
  for (std::size_t i = step.size(); i-- > 0;) {
    if (step.small(i)) out[i] = -1;
    for (const std::size_t r : step.readers(i))
      if (step.forward(r) && layer[r] != layer[i]) out[i] = -1;
    if (out[i] < 0) out[step.base(i)] = -1;
  }
  return out;
}

/// Elementwise values are computed again from what is kept anyway, or is no larger.
class CheapOnes {
 public:
  explicit CheapOnes(const StepNodes& step) : step_(step), out_(step.size(), -1), kept_(step.size()) {
    for (std::size_t i = 0; i < step.size(); ++i)
      if (weighs(step, i) && step.needed(i)) decide(i);
    for (std::size_t i = 0; i < step.size(); ++i)
      if (step.base(i) != i) out_[i] = out_[step.base(i)];
  }

  /// A value that several of them need on their way belongs to each: it is computed again where it is read.
  Segments take() { return std::move(out_); }

 private:
  bool dear(std::size_t i) const { return computes_as_root(step_.node(i)) || is_piece(step_.node(i)); }

  bool is_leaf(std::size_t i) const {
    if (!step_.material(i) || step_.small(i) || dear(i) || kept_[i]) return true;
    const auto& readers = step_.readers(i);
    return out_[i] < 0 &&
           std::count_if(readers.begin(), readers.end(), [&](std::size_t r) { return step_.forward(r); }) > 1;
  }

  void decide(std::size_t i) {
    if (dear(i)) return;
    std::vector<std::size_t> leaves, inner;
    double cost = 0;
    collect(i, leaves, inner, cost);
    double more = 0;
    for (const std::size_t leaf : leaves)
      if (!kept_[leaf] && !(dear(leaf) && step_.needed(leaf)) && step_.material(leaf) && !step_.small(leaf))
        more += step_.bytes(leaf);
    if (cost > kCheap || more > step_.bytes(i)) {
      kept_[i] = true;
      return;
    }
    for (const std::size_t leaf : leaves) kept_[leaf] = true;
    for (const std::size_t n : inner)
      if (out_[n] < 0) out_[n] = segments_;
    ++segments_;
  }

  void collect(std::size_t i, std::vector<std::size_t>& leaves, std::vector<std::size_t>& inner,
               double& cost) const {
    if (std::find(inner.begin(), inner.end(), i) != inner.end()) return;
    inner.push_back(i);
    cost += own_cost(*step_.node(i));
    if (cost > kCheap) return;
    for (const Tensor& t : step_.node(i)->inputs) {
      const std::size_t from = step_.number(t.id());
      if (is_leaf(from))
        leaves.push_back(from);
      else
        collect(from, leaves, inner, cost);
    }
  }

  const StepNodes& step_;
  Segments out_;
  std::vector<bool> kept_;
  int segments_ = 0;
};

}  // namespace

Segments choose_segments(const StepNodes& step, const Recompute& what) {
  if (what.what == Recompute::What::cheap) return CheapOnes(step).take();
  if (what.what == Recompute::What::layers) return by_layers(step, what.layers);
  return Cutter(step).segments();
}

}  // namespace tightloop::backends::cpu
