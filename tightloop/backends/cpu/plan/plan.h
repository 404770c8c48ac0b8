// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/plan/schedule.h>

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace tightloop::backends::cpu {

/// A piece of memory that kernels read or write.
struct Buffer {
  /// local: of one batchwise chain, so that each thread needs it for the samples of one stretch only.
  enum class Kind : std::uint8_t { input, result, temporary, local };
  Kind kind = Kind::temporary;
  TensorType type;
  int index = -1;  ///< which graph input or output; else unused
  bool panels = false;
  int first = 0;  ///< temporaries: the phases between which it lives; local: the kernels
  int last = 0;
};

/// A transposed matrix [K, N] that only matrix products read, as their right side, lies in panels of this
/// many columns, each row after row, the last filled up: what a product reads one after the other is
/// together.
inline constexpr std::int64_t kPanelColumns = 32;

/// Everything but the code: what runs in which order on which memory.
struct Plan {
  ir::Graph graph;  ///< keeps the nodes alive
  Schedule schedule;
  std::int64_t stretch = 0;  ///< samples that a thread takes through a chain at a time
  std::vector<Buffer> buffers;
  std::unordered_map<const ir::Node*, int> memory;  ///< input or stored root → where it is read
  std::unordered_map<const ir::Node*, std::vector<int>> stores;  ///< root → every buffer it is written to
  std::unordered_set<const ir::Node*> in_panels;
  /// Where a piece goes: into every buffer that its assembly is written to.
  struct Place {
    const ir::Node* assembly;
    std::int64_t start;  ///< along the joined axis
  };
  std::unordered_map<const ir::Node*, Place> places;
  struct Copy {
    int from;
    int to;
  };
  std::vector<Copy> copies;  ///< done after the last kernel: states whose old value was needed to the end

  int buffer_of(const ir::Node* n) const { return memory.at(n); }
};

Plan make_plan(const ir::Graph& graph);

/// For batches of up to sizes.batch. Offsets by buffer number (-1 for inputs and results): of temporaries in
/// one arena, of local buffers in one that each thread has for itself; and the sizes of the two. Buffers that
/// do not live at the same time share memory.
struct Layout {
  std::vector<std::ptrdiff_t> offsets;
  std::size_t bytes = 0;
  std::size_t local_bytes = 0;
};
Layout lay_out(const Plan& plan, const Sizes& sizes);

}  // namespace tightloop::backends::cpu
