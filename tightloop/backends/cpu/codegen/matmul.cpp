// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/codegen/kernels.h>
#include <tightloop/backends/cpu/codegen/tile.h>
#include <llvm/IR/Module.h>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

class MatmulEmitter {
 public:
  explicit MatmulEmitter(KernelBuilder& k)
      : k_(k), node_(k.kernel().sources[0]), tile_(best_tile(k.target(), node_->type.dtype)) {
    const Shape& a = node_->inputs[0].shape();
    const std::size_t rank = a.rank();
    tile_.a_transposed = node_->attrs.get<bool>("transpose_a", false);
    m_ = node_->type.shape[rank - 2];
    n_ = node_->type.shape[rank - 1];
    depth_ = a[rank - (tile_.a_transposed ? 2 : 1)];
    a_stride_ = a[rank - 1];
    if (n_.is(1)) tile_.lanes = 1, tile_.vectors = 1;
    if (n_.is_static() && n_.factor <= tile_.lanes) tile_.vectors = 1;
    element_ = element_type(k.ir().getContext(), tile_.dtype);
  }

  void run() {
    auto* block = llvm::ArrayType::get(element_, static_cast<std::uint64_t>(tile_.rows * tile_.columns()));
    sums_ = k_.slot(block);
    sums_->setAlignment(llvm::Align(64));
    k_.stand_at(0);
    const bool by_columns = m_.is_static() && m_.factor < 4 * tile_.rows && n_.factor > 4 * tile_.columns();
    const auto [begin, end] = k_.share(k_.extent(by_columns ? n_ : m_), by_columns ? tile_.columns() : tile_.rows);
    rows_ = by_columns ? std::pair{static_cast<llvm::Value*>(k_.number(0)), k_.extent(m_)} : std::pair{begin, end};
    columns_ = by_columns ? std::pair{begin, end} : std::pair{static_cast<llvm::Value*>(k_.number(0)), k_.extent(n_)};
    const std::size_t outer = node_->type.shape.rank() - 2;
    for (std::size_t d = 0; d < outer; ++d)
      batch_.push_back(k_.loop_index(k_.number(0), k_.extent(node_->type.shape[d])));
    panels();
    for (std::size_t d = 0; d < outer; ++d) k_.end_loop();
  }

 private:
  void panels() {
    const int width = tile_.columns();
    k_.stand_at(k_.level());
    llvm::Value* whole = k_.ir().CreateAnd(k_.ir().CreateSub(columns_.second, columns_.first), k_.number(-width));
    llvm::Value* split = k_.ir().CreateAdd(columns_.first, whole);
    const bool full = !n_.is_static() || n_.factor >= width;
    if (full) {
      llvm::Value* n = k_.begin_loop(columns_.first, split, k_.number(width));
      row_blocks(n, tile_);
      k_.end_loop();
    }
    if (!leaves_rest(n_, width)) return;
    Tile rest = tile_;
    rest.masked = tile_.lanes > 1;
    if (n_.is_static() && n_.factor % width <= tile_.lanes) rest.vectors = 1;
    llvm::Value* n = k_.begin_loop(split, columns_.second, k_.number(width));
    row_blocks(n, rest);
    k_.end_loop();
  }

  void row_blocks(llvm::Value* n, const Tile& tile) {
    k_.stand_at(k_.level());
    llvm::Value* from = rows_.first;
    // Ever smaller tiles take the rows that are left: each row's sum is the same in all of them.
    std::int64_t known_left = m_.is_static() ? m_.factor : tile.rows - 1;
    for (int rows = tile.rows; rows >= 1 && known_left > 0; rows = rows > 4 ? 4 : rows > 1 ? 1 : 0) {
      if (m_.is_static() && known_left < rows) continue;
      if (m_.is_static()) known_left %= rows;
      Tile part = tile;
      part.rows = rows;
      k_.stand_at(k_.level());
      llvm::Value* left = k_.ir().CreateSub(rows_.second, from);
      llvm::Value* taken = k_.ir().CreateMul(k_.ir().CreateSDiv(left, k_.number(rows)), k_.number(rows));
      llvm::Value* to = k_.ir().CreateAdd(from, taken);
      llvm::Value* m = k_.begin_loop(from, to, k_.number(rows));
      block(m, n, part);
      k_.end_loop();
      from = to;
    }
  }

  void block(llvm::Value* m, llvm::Value* n, const Tile& tile) {
    const Node* a = storage_of(node_->inputs[0].id());
    const Node* b = storage_of(node_->inputs[1].id());
    llvm::Value* a_at = operand(a, node_->inputs[0].shape(), tile.a_transposed ? nullptr : m, tile.a_transposed ? m : nullptr);
    llvm::Value* b_at = operand(b, node_->inputs[1].shape(), nullptr, n);
    k_.stand_at(k_.level());
    llvm::Value* left = k_.ir().CreateSub(columns_.second, n);
    llvm::Function* f = tile_function(*k_.function()->getParent(), k_.target(), tile);
    k_.ir().CreateCall(f, {a_at, k_.extent(a_stride_), b_at, k_.extent(n_), k_.extent(depth_), sums_, left});
    finish(m, n, tile, left);
  }

  /// Address of element [batch…, row, column] of an operand; null stands for 0.
  llvm::Value* operand(const Node* memory, const Shape& shape, llvm::Value* row, llvm::Value* column) {
    auto& ir = k_.ir();
    llvm::Value* base = k_.buffer(k_.plan().buffer_of(memory));
    k_.stand_at(k_.level());
    const std::size_t rank = shape.rank();
    llvm::Value* offset = k_.number(0);
    for (std::size_t d = 0; d + 2 < rank; ++d)
      offset = ir.CreateAdd(ir.CreateMul(offset, k_.extent(shape[d])), batch_[d].base);
    offset = ir.CreateMul(offset, k_.extent(shape[rank - 2]));
    if (row != nullptr) offset = ir.CreateAdd(offset, row);
    offset = ir.CreateMul(offset, k_.extent(shape[rank - 1]));
    if (column != nullptr) offset = ir.CreateAdd(offset, column);
    return ir.CreateGEP(element_, base, offset);
  }

  void finish(llvm::Value* m, llvm::Value* n, const Tile& tile, llvm::Value* left) {
    auto& ir = k_.ir();
    llvm::Value* r = k_.begin_loop(k_.number(0), k_.number(tile.rows), k_.number(1));
    const Index row = k_.uniform_index(ir.CreateAdd(m, r), k_.level());
    llvm::Value* line = ir.CreateGEP(element_, sums_, ir.CreateMul(r, k_.number(tile.columns())));
    llvm::Type* vector = tile.lanes == 1 ? element_ : llvm::FixedVectorType::get(element_, static_cast<unsigned>(tile.lanes));
    k_.set_lanes(tile.lanes);
    for (int v = 0; v < tile.vectors; ++v) {
      k_.stand_at(k_.level());
      const std::int64_t first = static_cast<std::int64_t>(v) * tile.lanes;
      if (tile.masked) {
        auto* index = llvm::FixedVectorType::get(ir.getInt64Ty(), static_cast<unsigned>(tile.lanes));
        llvm::Value* there = ir.CreateVectorSplat(static_cast<unsigned>(tile.lanes), ir.CreateSub(left, k_.number(first)));
        k_.set_mask(ir.CreateICmpSLT(ir.CreateStepVector(index), there));
      }
      llvm::Value* sum = ir.CreateAlignedLoad(vector, ir.CreateConstGEP1_64(element_, line, static_cast<std::uint64_t>(first)),
                                              llvm::Align(size_of(tile.dtype)));
      k_.define(node_, {sum, k_.level()});
      k_.finish_roots(position(row, k_.lane_index(ir.CreateAdd(n, k_.number(first)), k_.level())));
    }
    k_.set_mask(nullptr);
    k_.set_lanes(1);
    k_.end_loop();
  }

  /// The place in the kernel's domain, which has no dims of 1.
  Position position(const Index& row, const Index& column) {
    Position p;
    const Shape& shape = node_->type.shape;
    for (std::size_t d = 0; d < batch_.size(); ++d)
      if (!shape[d].is(1)) p.dims.push_back(batch_[d]);
    if (!m_.is(1)) p.dims.push_back(row);
    if (!n_.is(1)) p.dims.push_back(column);
    return p;
  }

  KernelBuilder& k_;
  const Node* node_;
  Tile tile_;
  Dim m_;
  Dim n_;
  Dim depth_;
  Dim a_stride_;
  llvm::Type* element_ = nullptr;
  llvm::AllocaInst* sums_ = nullptr;
  std::pair<llvm::Value*, llvm::Value*> rows_;
  std::pair<llvm::Value*, llvm::Value*> columns_;
  std::vector<Index> batch_;
};

}  // namespace

void emit_matmul(KernelBuilder& k) { MatmulEmitter(k).run(); }

}  // namespace tightloop::backends::cpu
