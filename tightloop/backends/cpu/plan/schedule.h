// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cuts a graph into kernels. Words used here and by the code generator:
// - a *root* is a node whose value a kernel computes as such: graph outputs, contractions, reductions,
//   scatters, operands that must lie in memory, and shared values too dear to compute twice;
// - every other node is *inline*: computed inside the loops of whichever kernel reads it;
// - a kernel's *domain* is the shape its roots share once dims of 1 are dropped;
// - a root is read *aligned* when element i of the reader needs element i of the root.
#include <tightloop/ir/graph.h>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tightloop::backends::cpu {

/// The last three have no generated code: functions of library/ and windows/ compute, and an assembly
/// (assembly.h) is there when its pieces are.
enum class KernelKind : std::uint8_t {
  elementwise,
  reduce,
  matmul,
  scatter,
  transpose,
  library,
  window,
  assembly
};
/// Whether LLVM makes its code.
constexpr bool is_generated(KernelKind kind) { return kind < KernelKind::library; }

struct Kernel {
  KernelKind kind = KernelKind::elementwise;
  std::vector<Dim> domain;             ///< without dims of 1
  std::vector<const ir::Node*> roots;  ///< in topological order; the first is the contraction, reduction, …
  std::vector<const ir::Node*> sources;  ///< reductions sharing the loop, or the one matmul/scatter/transpose
  std::string name;                      ///< "matmul+add+tanh"
  bool late = false;       ///< runs just before who reads it: its result is larger than what it reads
  bool batchwise = false;  ///< all roots are (plan/batchwise.h): it runs stretch by stretch
  /// A scalar without which it need not run (plan/conditional.h); null: it always does.
  const ir::Node* only_if = nullptr;
};

/// Kernels [first, last) that a team runs without waiting for each other: the batchwise ones, before `whole`,
/// as a chain that each thread takes its own samples through; the others share out their results and need
/// nothing of this phase.
struct Phase {
  int first = 0;
  int whole = 0;
  int last = 0;
};

struct Schedule {
  std::vector<Kernel> kernels;                    ///< in an order that respects every dependency
  std::vector<Phase> phases;                      ///< all kernels, in that order
  std::unordered_map<const ir::Node*, int> home;  ///< root → its kernel
  std::unordered_set<const ir::Node*> stored;     ///< roots that need memory

  bool is_root(const ir::Node* n) const { return home.contains(n); }
  int phase_of(int kernel) const;
};

/// `graph` must be in the form prepare() leaves it.
Schedule make_schedule(const ir::Graph& graph);

/// Backend-specific rewriting before scheduling: planes of images become rows (plan/merge_dims.h); attention
/// goes by blocks (plan/lower_attention.h); matmul operands become row-major along N (an explicit transpose
/// node where they are not); concatenations are taken apart (plan/assembly.h); sums over the batch are split
/// (plan/batchwise.h, plan/windows.h).
ir::Graph prepare(const ir::Graph& graph);

/// Matrix products that oneDNN computes: f32 with a weight (its two static dims) of at least kLibraryWeight
/// elements. Up to there generated tiles are faster, by their epilogues alone; beyond, rows of a panel crowd
/// the same cache sets. Where a sample has kLongSequence rows or more, a smaller weight suffices; and for the
/// gradient of a weight, a sum over all of them that an epilogue gains little, a yet smaller one.
inline constexpr std::int64_t kLibraryWeight = std::int64_t{1} << 19;
inline constexpr std::int64_t kLibrarySequenceWeight = std::int64_t{1} << 17;
inline constexpr std::int64_t kLongSequence = 64;
inline constexpr std::int64_t kLibrarySum = std::int64_t{1} << 15;
inline constexpr std::int64_t kLongSum = 16;
bool goes_to_library(const ir::Node* n);

/// Dims other than 1.
std::vector<Dim> squeezed(const Shape& shape);
/// The node whose memory `n` shares: looks through reshapes (and identities).
const ir::Node* storage_of(const ir::Node* n);
/// Whether both operands of a library product are bf16 that it reads as they are stored.
bool library_reads_low(const ir::Node* n);
/// What a kernel that reads whole arrays reads as its input `i`: generated products and the library's
/// convolutions read bf16 and f16 as they are stored, where the graph widens them.
const ir::Node* operand_of(const ir::Node* reader, std::size_t i);
/// A graph input: memory that exists before the step.
bool is_input(const ir::Node* n);
/// Reshape that only adds or drops dims of 1, or an identity.
bool is_unit_reshape(const ir::Node* n);
bool is_reduction(const ir::Node* n);
/// Contractions, reductions, scatters, assemblies, convolutions and pooling: never computed inside another
/// kernel's loop.
bool computes_as_root(const ir::Node* n);

struct Leaf {
  const ir::Node* node;
  bool aligned;
};
/// Roots and inputs that computing `root` reads, looking through inline nodes.
std::vector<Leaf> leaves_of(const ir::Node* root, const std::unordered_set<const ir::Node*>& roots);

}  // namespace tightloop::backends::cpu
