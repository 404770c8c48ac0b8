// SPDX-License-Identifier: Apache-2.0
#pragma once
// A training step seen as a forward and a backward, and which values of the forward are kept for the
// backward.
#include <tightloop/ir/graph.h>
#include <tightloop/ir/recompute.h>

#include <unordered_map>
#include <vector>

namespace tightloop::backends::cpu {

/// Nodes of a step by number, in topological order.
class StepNodes {
 public:
  explicit StepNodes(const ir::Graph& graph);

  std::size_t size() const { return order_.size(); }
  const ir::Node* node(std::size_t i) const { return order_[i]; }
  std::size_t number(const ir::Node* n) const { return number_.at(n); }
  bool forward(std::size_t i) const { return forward_[i]; }
  bool backward(std::size_t i) const { return backward_[i]; }
  /// Nodes on the longest way from an input to this one.
  int level(std::size_t i) const { return level_[i]; }
  const std::vector<std::size_t>& readers(std::size_t i) const { return readers_[i]; }
  /// A value of the forward that takes memory with the batch, or depends on data.
  bool material(std::size_t i) const { return material_[i]; }
  /// Made by a reduction over much more, such as the mean of a row, or of such values alone.
  bool small(std::size_t i) const { return small_[i]; }
  /// The backward reads it, as it is or reshaped.
  bool needed(std::size_t i) const { return needed_[i]; }
  /// About, in a batch of usual size.
  double bytes(std::size_t i) const;
  /// The node whose memory a reshape shares.
  std::size_t base(std::size_t i) const;

 private:
  void find_forward(const ir::Graph& graph);
  void find_material();

  std::vector<const ir::Node*> order_;
  std::unordered_map<const ir::Node*, std::size_t> number_;
  std::vector<std::vector<std::size_t>> readers_;
  std::vector<bool> forward_, backward_, material_, small_, needed_;
  std::vector<int> level_;
};

/// By number: the group of values that is computed again together, or -1 for what is kept or is no value of
/// the forward.
using Segments = std::vector<int>;
Segments choose_segments(const StepNodes& step, const Recompute& what);

}  // namespace tightloop::backends::cpu
