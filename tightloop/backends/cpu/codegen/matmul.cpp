// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/Module.h>
#include <tightloop/backends/cpu/codegen/kernels.h>
#include <tightloop/backends/cpu/codegen/tile.h>
#include <tightloop/backends/cpu/plan/batchwise.h>

#include <tuple>

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
    m_ = *(node_->type.shape.end() - 2);
    n_ = *(node_->type.shape.end() - 1);
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
    const auto [begin, end] = k_.share(by_columns ? n_ : m_, by_columns ? tile_.columns() : tile_.rows);
    rows_ = by_columns ? std::pair{static_cast<llvm::Value*>(k_.number(0)), k_.extent(m_)}
                       : std::pair{begin, end};
    columns_ = by_columns ? std::pair{begin, end}
                          : std::pair{static_cast<llvm::Value*>(k_.number(0)), k_.extent(n_)};
    std::tie(depth_begin_, depth_end_) = k_.whole(depth_);
    const std::size_t outer = node_->inputs[0].rank() - 2;
    for (std::size_t d = 0; d < outer; ++d) {
      const auto [first, last] = k_.whole(node_->type.shape[d]);
      batch_.push_back(k_.loop_index(first, last));
    }
    panels();
    for (std::size_t d = 0; d < outer; ++d) k_.end_loop();
  }

 private:
  /// Panels of columns, in each all blocks of rows: the panel of B stays in the cache. One piece of code
  /// serves whole and cut blocks; which tile function it calls depends on what is left.
  void panels() {
    auto& ir = k_.ir();
    llvm::Value* n = k_.begin_loop(columns_.first, columns_.second, k_.number(tile_.columns()));
    llvm::Value* columns_left = ir.CreateSub(columns_.second, n);
    llvm::Value* m = k_.begin_loop(rows_.first, rows_.second, k_.number(tile_.rows));
    llvm::Value* rows_left = ir.CreateSub(rows_.second, m);
    const std::int64_t rest = rest_rows();
    llvm::Value* whole = ir.CreateICmpSGE(rows_left, k_.number(tile_.rows));
    llvm::Value* rows =
        rest == 0 ? k_.number(tile_.rows) : ir.CreateSelect(whole, k_.number(tile_.rows), k_.number(rest));
    llvm::Value* function = for_columns(tile_.rows, columns_left);
    if (rest != 0)
      function = ir.CreateSelect(whole, function, for_columns(static_cast<int>(rest), columns_left));
    multiply(function, m, n, columns_left);
    finish(m, n, rows, columns_left);
    k_.set_step(rows);
    k_.end_loop();
    k_.end_loop();
  }

  /// Rows of the blocks after the whole ones: all that are left when their number is known, else one at a
  /// time.
  std::int64_t rest_rows() const {
    if (!leaves_rest(m_, tile_.rows)) return 0;
    return m_.is_static() ? m_.factor % tile_.rows : 1;
  }

  /// The tile function for `rows` rows and the columns that are left.
  llvm::Value* for_columns(int rows, llvm::Value* columns_left) {
    Tile tile = tile_;
    tile.rows = rows;
    llvm::Module& module = *k_.function()->getParent();
    const bool may_be_whole = !n_.is_static() || n_.factor >= tile.columns();
    llvm::Function* whole = may_be_whole ? tile_function(module, k_.target(), tile) : nullptr;
    if (!may_be_cut()) return whole;
    tile.masked = true;
    llvm::Function* cut = tile_function(module, k_.target(), tile);
    if (whole == nullptr) return cut;
    return k_.ir().CreateSelect(k_.ir().CreateICmpSGE(columns_left, k_.number(tile.columns())), whole, cut);
  }

  bool may_be_cut() const { return tile_.lanes > 1 && leaves_rest(n_, tile_.columns()); }

  void multiply(llvm::Value* function, llvm::Value* m, llvm::Value* n, llvm::Value* columns_left) {
    const Node* a = storage_of(node_->inputs[0].id());
    const Node* b = storage_of(node_->inputs[1].id());
    const bool t = tile_.a_transposed;
    llvm::Value* a_at = operand(a, node_->inputs[0].shape(), t ? depth_begin_ : m, t ? m : depth_begin_);
    llvm::Value* b_at = operand(b, node_->inputs[1].shape(), depth_begin_, n);
    k_.stand_at(k_.level());
    auto* type = tile_function_type(k_.ir().getContext());
    llvm::Value* depth = k_.ir().CreateSub(depth_end_, depth_begin_);
    k_.ir().CreateCall(type, function,
                       {a_at, k_.extent(a_stride_), b_at, k_.extent(n_), depth, sums_, columns_left});
  }

  /// Address of element [batch…, row, column] of an operand.
  llvm::Value* operand(const Node* memory, const Shape& shape, llvm::Value* row, llvm::Value* column) {
    auto& ir = k_.ir();
    llvm::Value* base = k_.buffer(k_.plan().buffer_of(memory));
    k_.stand_at(k_.level());
    const std::size_t rank = shape.rank();
    llvm::Value* offset = k_.number(0);
    for (std::size_t d = 0; d + 2 < rank; ++d)
      offset = ir.CreateAdd(ir.CreateMul(offset, k_.extent(shape[d])), batch_[d].base);
    offset = ir.CreateMul(offset, k_.extent(shape[rank - 2]));
    offset = ir.CreateAdd(offset, row);
    offset = ir.CreateMul(offset, k_.extent(shape[rank - 1]));
    offset = ir.CreateAdd(offset, column);
    return ir.CreateGEP(element_, base, offset);
  }

  /// The kernel's other roots, vector by vector of the block of sums.
  void finish(llvm::Value* m, llvm::Value* n, llvm::Value* rows, llvm::Value* columns_left) {
    auto& ir = k_.ir();
    llvm::Value* r = k_.begin_loop(k_.number(0), rows, k_.number(1));
    const Index row = k_.uniform_index(ir.CreateAdd(m, r), k_.level());
    llvm::Value* line = ir.CreateGEP(element_, sums_, ir.CreateMul(r, k_.number(tile_.columns())));
    llvm::Value* here =
        ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, columns_left, k_.number(tile_.columns()));
    llvm::Value* c = k_.begin_loop(k_.number(0), here, k_.number(tile_.lanes));
    llvm::Type* vector = element_;
    k_.set_lanes(tile_.lanes);
    if (tile_.lanes > 1) vector = llvm::FixedVectorType::get(element_, static_cast<unsigned>(tile_.lanes));
    if (may_be_cut()) k_.set_mask(first_lanes(ir, ir.CreateSub(columns_left, c), tile_.lanes));
    llvm::Value* sum =
        ir.CreateAlignedLoad(vector, ir.CreateGEP(element_, line, c), llvm::Align(size_of(tile_.dtype)));
    Position p = position(row, k_.lane_index(ir.CreateAdd(n, c), k_.level()));
    if (is_group_sum(node_)) {
      p = k_.in_group(p);
      sum = k_.add_to_group(node_, p, sum);
    }
    k_.define(node_, {sum, k_.level()});
    k_.finish_roots(p);
    k_.set_mask(nullptr);
    k_.set_lanes(1);
    k_.end_loop();
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
  llvm::Value* depth_begin_ = nullptr;
  llvm::Value* depth_end_ = nullptr;
  std::pair<llvm::Value*, llvm::Value*> rows_;
  std::pair<llvm::Value*, llvm::Value*> columns_;
  std::vector<Index> batch_;
};

}  // namespace

void emit_matmul(KernelBuilder& k) { MatmulEmitter(k).run(); }

}  // namespace tightloop::backends::cpu
