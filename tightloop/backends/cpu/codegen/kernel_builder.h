// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <tightloop/backends/cpu/codegen/alike.h>
#include <tightloop/backends/cpu/codegen/index.h>
#include <tightloop/backends/cpu/codegen/target.h>
#include <tightloop/backends/cpu/codegen/tile.h>
#include <tightloop/backends/cpu/codegen/vector_builder.h>
#include <tightloop/backends/cpu/plan/plan.h>

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tightloop::backends::cpu {

/// Lets LLVM use the full vectors of the target in `f`, and says that it throws nothing.
void set_vector_width(llvm::Function& f, const Target& target);

/// A mask of the first `count` lanes (i64, 0 and more).
inline llvm::Value* first_lanes(llvm::IRBuilder<>& b, llvm::Value* count, int lanes) {
  llvm::Value* most = b.getInt64(static_cast<std::uint64_t>(lanes));
  llvm::Value* some =
      b.CreateTrunc(b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, most), b.getInt32Ty());
  auto* type = llvm::FixedVectorType::get(b.getInt32Ty(), static_cast<unsigned>(lanes));
  return b.CreateICmpSLT(b.CreateStepVector(type), b.CreateVectorSplat(static_cast<unsigned>(lanes), some));
}

/// Emits one kernel function: loops, indices, memory, and the values of nodes at positions.
///
/// A value is emitted at the depth of the outermost loop where everything it needs is known, so
/// whatever does not vary in the inner loop is computed outside it.
class KernelBuilder {
 public:
  /// `terms`: what calls of this function are told; none when it serves one kernel alone.
  KernelBuilder(llvm::Module& module, const Plan& plan, const Target& target, const Kernel& kernel,
                const Terms& terms, SharedFunctions& shared, const std::string& symbol);
  /// Ends the function.
  void finish();

  llvm::IRBuilder<>& ir() { return b_; }
  const Target& target() const { return target_; }
  const Plan& plan() const { return plan_; }
  const Kernel& kernel() const { return kernel_; }
  SharedFunctions& shared_functions() const { return shared_; }
  VectorBuilder& scalar() { return s_; }
  llvm::Function* function() { return function_; }

  // --- lanes: how many elements one vector value holds at this point (1: plain scalars)
  int lanes() const { return lanes_; }
  void set_lanes(int lanes) { lanes_ = lanes; }
  /// Lanes beyond the mask are neither loaded nor stored. Null: all are.
  llvm::Value* mask() const { return mask_; }
  void set_mask(llvm::Value* mask) { mask_ = mask; }

  // --- numbers
  llvm::Value* number(std::int64_t n) { return b_.getInt64(static_cast<std::uint64_t>(n)); }
  llvm::Value* extent(const Dim& d);
  llvm::Value* part() const { return part_; }
  llvm::Value* parts() const { return parts_; }
  /// [begin, end) of this part of the results, counted along `d`, in chunks that are multiples of `grain`. In
  /// a batchwise kernel: its samples where d is the batch, all of any other dim.
  std::pair<llvm::Value*, llvm::Value*> share(const Dim& d, std::int64_t grain);
  /// [begin, end) of a loop over `d` that is not shared out: all, or the samples of a batchwise kernel.
  std::pair<llvm::Value*, llvm::Value*> whole(const Dim& d);

  // --- loops; the builder stands at the end of the innermost one
  llvm::Value* begin_loop(llvm::Value* begin, llvm::Value* end, llvm::Value* step);
  void end_loop();
  /// Changes the step of the innermost loop, to a value known in its body.
  void set_step(llvm::Value* step) { levels_.back().step = step; }
  /// begin_loop() in steps of 1, as the index of a dim.
  Index loop_index(llvm::Value* begin, llvm::Value* end);
  int level() const { return static_cast<int>(levels_.size()) - 1; }
  /// A stack slot holding `initial`, for accumulators; promoted to a register.
  llvm::AllocaInst* slot(llvm::Type* type);
  /// Runs `body(step index base)` for the vectors of [begin, end): full ones, then a masked or scalar rest.
  template <class Body>
  void vector_loop(llvm::Value* begin, llvm::Value* end, bool may_have_rest, Body body);

  // --- indices
  Index uniform_index(llvm::Value* base, int level);
  Index lane_index(llvm::Value* base, int level);
  Index constant_index(std::int64_t n);
  Index from_value(Emitted v);
  Index add(const Index& i, std::int64_t n);
  /// With a number known at level 0.
  Index add(const Index& i, llvm::Value* n);
  Index scale(const Index& i, std::int64_t n);
  Index clamp(const Index& i, llvm::Value* last);
  /// Its positions as i64, scalar when uniform.
  Emitted positions(const Index& i);
  /// The position of an aligned node: `domain` has one index per dim of the kernel's domain.
  Position aligned(const Shape& shape, const Position& domain);

  // --- values
  /// The value of node `n` at `p`.
  Emitted emit(const ir::Node* n, const Position& p);
  /// What the roots of this kernel are at the present position; readers find them here.
  void define(const ir::Node* root, Emitted v) { current_[root] = v; }
  void undefine_all() { current_.clear(); }
  /// Computes, in the kernel's order, every root that is not yet defined, and stores those that need memory.
  void finish_roots(const Position& domain);
  /// A group's sum so far: `sum`, over these samples, and what earlier stretches of the group left in memory.
  llvm::Value* add_to_group(const ir::Node* group_sum, const Position& domain, llvm::Value* sum);
  /// The place of a group's sum in its kernel's domain.
  Position in_group(Position kept);
  Emitted load(const ir::Node* stored, const Position& p);
  void store(int buffer, const TensorType& type, const Position& p, Emitted v);
  /// What lies in a buffer now, even if it was read before.
  Emitted load_fresh(int buffer, const TensorType& type, const Position& p);
  llvm::Value* buffer(int id);
  llvm::Value* splat(llvm::Value* v);
  llvm::Value* context_member(std::size_t offset);
  /// Puts the builder where values of this depth go.
  void stand_at(int level);

 private:
  struct Level {
    llvm::BasicBlock* block = nullptr;
    llvm::Instruction* end = nullptr;  ///< terminator while an inner loop is open, null when innermost
    llvm::BasicBlock* header = nullptr;
    llvm::BasicBlock* exit = nullptr;
    llvm::PHINode* counter = nullptr;
    llvm::Value* step = nullptr;
  };
  using Key = std::pair<const ir::Node*, std::vector<int>>;

  Emitted compute(const ir::Node* n, const Position& p);
  Emitted elementwise(const ir::Node* n, const Position& p);
  Emitted random(const ir::Node* n, const Position& p);
  Index row_of(const ir::Node* gather, const Position& q);
  /// Where element `p` of a random op lies in the draw that the op is a window of.
  Position in_draw(const ir::Node* n, const Position& p);
  Emitted gather(const ir::Node* n, const Position& p);
  Emitted concat(const ir::Node* n, const Position& p);
  Emitted pad(const ir::Node* n, const Position& p);
  Emitted reshape(const ir::Node* n, const Position& p);
  Index linear(const Shape& shape, const Position& p);
  Position unflatten(const Shape& shape, const Position& p);
  llvm::Value* told(std::size_t number);
  /// i + start, the start along `axis` of a slice or piece.
  Index from_start(const Index& i, const ir::Node* n, std::size_t axis, std::int64_t start);
  void store_piece(const ir::Node* piece, const Position& domain, const Emitted& v);
  Emitted load_at(llvm::Value* pointer, DType dtype, const Index& offset);
  Emitted loaded(llvm::Value* raw, DType dtype, int level);

  llvm::Module& module_;
  const Plan& plan_;
  const Target& target_;
  const Kernel& kernel_;
  const Terms& terms_;
  SharedFunctions& shared_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
  VectorBuilder s_;
  std::vector<Level> levels_;
  std::map<Key, Emitted> known_;
  std::map<Key, Index> rows_;  ///< positions in tables, by the gather that reads them
  std::unordered_map<const ir::Node*, Emitted> current_;
  std::unordered_map<int, llvm::Value*> buffers_;
  std::map<std::size_t, llvm::Value*> told_;                         ///< by number in the terms
  std::map<std::size_t, llvm::Value*> members_;                      ///< by offset in StepContext
  std::map<std::pair<Symbol, std::int64_t>, llvm::Value*> extents_;  ///< symbolic dims with a factor
  llvm::Value* part_ = nullptr;
  llvm::Value* parts_ = nullptr;
  llvm::Value* mask_ = nullptr;
  int lanes_ = 1;
  int next_id_ = 1;
};

template <class Body>
void KernelBuilder::vector_loop(llvm::Value* begin, llvm::Value* end, bool may_have_rest, Body body) {
  const int lanes = lanes_;
  if (lanes == 1) {
    llvm::Value* i = begin_loop(begin, end, number(1));
    body(i);
    end_loop();
    return;
  }
  stand_at(level());
  llvm::Value* whole = b_.CreateAnd(b_.CreateSub(end, begin), number(-lanes));
  llvm::Value* split = b_.CreateAdd(begin, whole);
  llvm::Value* i = begin_loop(begin, may_have_rest ? split : end, number(lanes));
  body(i);
  end_loop();
  if (!may_have_rest) return;
  if (!target_.masks) {
    lanes_ = 1;
    llvm::Value* r = begin_loop(split, end, number(1));
    body(r);
    end_loop();
    lanes_ = lanes;
    return;
  }
  llvm::Value* r = begin_loop(split, end, number(lanes));
  mask_ = first_lanes(b_, b_.CreateSub(end, r), lanes);
  body(r);
  mask_ = nullptr;
  end_loop();
}

}  // namespace tightloop::backends::cpu
