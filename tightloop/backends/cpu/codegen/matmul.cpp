// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/Module.h>
#include <tightloop/backends/cpu/codegen/kernels.h>
#include <tightloop/backends/cpu/codegen/tile.h>
#include <tightloop/backends/cpu/plan/batchwise.h>

#include <algorithm>
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
    tile_.pitch = tile_.vectors;
    tile_.a = operand_of(node_, 0)->type.dtype;
    tile_.b = operand_of(node_, 1)->type.dtype;
    element_ = element_type(k.ir().getContext(), tile_.dtype);
    panels_ = k.plan().in_panels.contains(operand_of(node_, 1));
    fetched_ = large_companions();
  }

  void run() {
    sums_ = scratch(block_rows());
    if (packs()) packed_ = scratch(kDepthBlock);
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
  /// Rows whose sums are held in the cache while K goes by, and how much of K at a time.
  static constexpr std::int64_t kRowBlock = 128;
  static constexpr std::int64_t kDepthBlock = 256;

  /// Whole tiles, so that only the last block leaves a rest.
  std::int64_t row_block() const { return kRowBlock / tile_.rows * tile_.rows; }
  /// Elements of a matrix that the cache next to a core does not keep from step to step.
  static constexpr std::int64_t kLargeMatrix = 32768;
  /// From this width on, rows one below the other may fall on the same few places of the cache.
  static constexpr std::int64_t kFarColumns = 512;
  std::int64_t block_rows() const { return m_.is_static() ? std::min(m_.factor, row_block()) : row_block(); }

  llvm::AllocaInst* scratch(std::int64_t rows) {
    llvm::AllocaInst* slot =
        k_.slot(llvm::ArrayType::get(element_, static_cast<std::uint64_t>(rows * tile_.columns())));
    slot->setAlignment(llvm::Align(64));
    return slot;
  }

  /// Rows of B that lie far apart are copied together where many rows of A meet them.
  bool packs() const {
    const bool apart = !n_.is_static() || n_.factor > 2 * tile_.columns();
    const bool far_apart = !n_.is_static() || n_.factor >= kFarColumns;
    const bool many = m_.is_static() ? m_.factor >= 8 * tile_.rows : far_apart;
    return tile_.lanes > 1 && !panels_ && apart && many;
  }

  /// Panels of columns; in each, blocks of rows; for each of those, K block by block, so that the sums and a
  /// piece of the panel stay in the cache.
  void panels() {
    auto& ir = k_.ir();
    llvm::Value* n = k_.begin_loop(columns_.first, columns_.second, k_.number(tile_.columns()));
    llvm::Value* columns_left = ir.CreateSub(columns_.second, n);
    llvm::Value* first = k_.begin_loop(rows_.first, rows_.second, k_.number(row_block()));
    llvm::Value* rows_end = smaller(ir.CreateAdd(first, k_.number(row_block())), rows_.second);
    // One round even where K is 0: the sums become 0.
    llvm::Value* last = ir.CreateSelect(ir.CreateICmpSGT(depth_end_, depth_begin_), depth_end_,
                                        ir.CreateAdd(depth_begin_, k_.number(1)));
    llvm::Value* k = k_.begin_loop(depth_begin_, last, k_.number(kDepthBlock));
    llvm::Value* depth = ir.CreateSub(smaller(ir.CreateAdd(k, k_.number(kDepthBlock)), depth_end_), k);
    multiply(first, rows_end, n, columns_left, k, depth);
    k_.end_loop();
    finish(first, rows_end, n, columns_left);
    k_.end_loop();
    k_.end_loop();
  }

  llvm::Value* smaller(llvm::Value* a, llvm::Value* b) {
    return k_.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
  }

  /// Sums of the rows [first, end) over `depth` steps of K from k. One piece of code serves whole and cut
  /// blocks; which tile function it calls depends on what is left.
  void multiply(llvm::Value* first, llvm::Value* end, llvm::Value* n, llvm::Value* columns_left,
                llvm::Value* k, llvm::Value* depth) {
    auto& ir = k_.ir();
    auto& context = ir.getContext();
    llvm::Value* b_at = panels_ ? panel_at(k, n) : operand(1, k, n);
    llvm::Value* b_stride = panels_ ? k_.number(kPanelColumns) : k_.extent(n_);
    k_.stand_at(k_.level());
    if (packed_ != nullptr) {
      llvm::Function* pack =
          pack_function(*k_.function()->getParent(), k_.target(), k_.shared_functions(), tile_);
      ir.CreateCall(pack_function_type(context), pack, {b_at, b_stride, depth, packed_, columns_left});
      b_at = packed_;
      b_stride = k_.number(tile_.columns());
    }
    llvm::Value* add = ir.CreateZExt(ir.CreateICmpSGT(k, depth_begin_), ir.getInt64Ty());
    llvm::Value* m = k_.begin_loop(first, end, k_.number(tile_.rows));
    llvm::Value* rows_left = ir.CreateSub(end, m);
    const std::vector<int> heights = block_heights();
    llvm::Value* rows = k_.number(heights.back());
    llvm::Value* function = for_columns(heights.back(), columns_left);
    for (auto h = heights.rbegin() + 1; h != heights.rend(); ++h) {
      llvm::Value* fits = ir.CreateICmpSGE(rows_left, k_.number(*h));
      rows = ir.CreateSelect(fits, k_.number(*h), rows);
      function = ir.CreateSelect(fits, for_columns(*h, columns_left), function);
    }
    llvm::Value* a_at = tile_.a_transposed ? operand(0, k, m) : operand(0, m, k);
    k_.stand_at(k_.level());
    ir.CreateCall(tile_function_type(context), function,
                  {a_at, k_.extent(a_stride_), b_at, b_stride, depth, sums_of(ir.CreateSub(m, first)),
                   columns_left, add});
    prefetch(m, rows, n);
    k_.set_step(rows);
    k_.end_loop();
  }

  /// What finish() will read at the rows from m, if it is too much to be in the cache already: pieces of rows
  /// far apart, which no hardware fetches ahead.
  void prefetch(llvm::Value* m, llvm::Value* rows, llvm::Value* n) {
    if (fetched_.empty()) return;
    auto& ir = k_.ir();
    llvm::Value* r = k_.begin_loop(m, ir.CreateAdd(m, rows), k_.number(1));
    llvm::Value* at = ir.CreateAdd(ir.CreateMul(r, k_.extent(n_)), n);
    const std::int64_t line = 64 / static_cast<std::int64_t>(size_of(tile_.dtype));
    for (const Node* x : fetched_)
      for (std::int64_t c = 0; c < tile_.columns(); c += line) {
        llvm::Value* p =
            ir.CreateGEP(element_, k_.buffer(k_.plan().buffer_of(x)), ir.CreateAdd(at, k_.number(c)));
        ir.CreateIntrinsic(llvm::Intrinsic::prefetch, {ir.getPtrTy()},
                           {p, ir.getInt32(1), ir.getInt32(3), ir.getInt32(1)});
      }
    k_.end_loop();
  }

  /// Matrices as large as the result that the kernel's other roots read element by element, weights and
  /// moments.
  std::vector<const Node*> large_companions() const {
    const Dim count = node_->type.shape.count();
    std::vector<const Node*> found;
    if (node_->type.shape.rank() != 2 || !count.is_static() || count.factor < kLargeMatrix) return found;
    std::unordered_set<const Node*> roots(k_.kernel().roots.begin(), k_.kernel().roots.end());
    for (const Node* r : k_.kernel().roots) {
      if (r == node_) continue;
      for (const Leaf& leaf : leaves_of(r, roots)) {
        const bool here = roots.contains(leaf.node) || !leaf.aligned || !k_.plan().memory.contains(leaf.node);
        const bool fits = leaf.node->type.shape.count() == count && leaf.node->type.dtype == tile_.dtype;
        if (!here && fits && std::find(found.begin(), found.end(), leaf.node) == found.end())
          found.push_back(leaf.node);
      }
    }
    return found;
  }

  llvm::Value* sums_of(llvm::Value* row) {
    return k_.ir().CreateGEP(element_, sums_, k_.ir().CreateMul(row, k_.number(tile_.columns())));
  }

  /// Rows of a block: whole ones as long as they fit; then all that are left when their number is known, else
  /// the next smaller height that fits.
  std::vector<int> block_heights() const {
    std::vector<int> heights{tile_.rows};
    if (!leaves_rest(m_, tile_.rows)) return heights;
    if (m_.is_static()) {
      heights.push_back(static_cast<int>(m_.factor % tile_.rows));
      if (m_.factor < tile_.rows) heights.erase(heights.begin());
    } else {
      for (const int h : {4, 1}) heights.push_back(h);
    }
    return heights;
  }

  /// The tile function for `rows` rows and the columns that are left.
  llvm::Value* for_columns(int rows, llvm::Value* columns_left) {
    Tile tile = tile_;
    tile.rows = rows;
    if (packed_ != nullptr) tile.b = tile.dtype;
    llvm::Module& module = *k_.function()->getParent();
    const bool may_be_whole = !n_.is_static() || n_.factor >= tile.columns();
    llvm::Function* whole =
        may_be_whole ? tile_function(module, k_.target(), k_.shared_functions(), tile) : nullptr;
    if (!may_be_cut()) return whole;
    if (n_.is_static()) {  // a narrower tile may do for the last columns
      const std::int64_t rest = n_.factor % tile.columns();
      if (rest <= tile.lanes) tile.vectors = 1;
      tile.masked = rest % tile.lanes != 0 && !b_is_padded();
    } else {
      tile.masked = !b_is_padded();
    }
    llvm::Function* cut = tile_function(module, k_.target(), k_.shared_functions(), tile);
    if (whole == nullptr) return cut;
    return k_.ir().CreateSelect(k_.ir().CreateICmpSGE(columns_left, k_.number(tile.columns())), whole, cut);
  }

  bool may_be_cut() const { return tile_.lanes > 1 && leaves_rest(n_, tile_.columns()); }
  /// B, as the tile reads it, has all columns of the last vector.
  bool b_is_padded() const { return panels_ || packed_ != nullptr; }

  /// Address of element [k, n] of B in panels; n is a multiple of the tile's columns.
  llvm::Value* panel_at(llvm::Value* k, llvm::Value* n) {
    auto& ir = k_.ir();
    llvm::Value* base = k_.buffer(k_.plan().buffer_of(operand_of(node_, 1)));
    k_.stand_at(k_.level());
    llvm::Value* in_panel = ir.CreateAnd(n, k_.number(kPanelColumns - 1));
    llvm::Value* start = ir.CreateMul(ir.CreateSub(n, in_panel), k_.extent(depth_));
    llvm::Value* line = ir.CreateMul(k, k_.number(kPanelColumns));
    return ir.CreateGEP(element_, base, ir.CreateAdd(start, ir.CreateAdd(line, in_panel)));
  }

  /// Address of element [batch…, row, column] of operand i.
  llvm::Value* operand(std::size_t i, llvm::Value* row, llvm::Value* column) {
    auto& ir = k_.ir();
    const Shape& shape = node_->inputs[i].shape();
    llvm::Value* base = k_.buffer(k_.plan().buffer_of(operand_of(node_, i)));
    k_.stand_at(k_.level());
    const std::size_t rank = shape.rank();
    llvm::Value* offset = k_.number(0);
    for (std::size_t d = 0; d + 2 < rank; ++d)
      offset = ir.CreateAdd(ir.CreateMul(offset, k_.extent(shape[d])), batch_[d].base);
    offset = ir.CreateMul(offset, k_.extent(shape[rank - 2]));
    offset = ir.CreateAdd(offset, row);
    offset = ir.CreateMul(offset, k_.extent(shape[rank - 1]));
    offset = ir.CreateAdd(offset, column);
    return ir.CreateGEP(memory_type(ir.getContext(), i == 0 ? tile_.a : tile_.b), base, offset);
  }

  /// The kernel's other roots, vector by vector of the sums of rows [first, end).
  void finish(llvm::Value* first, llvm::Value* end, llvm::Value* n, llvm::Value* columns_left) {
    auto& ir = k_.ir();
    llvm::Value* r = k_.begin_loop(first, end, k_.number(1));
    const Index row = k_.uniform_index(r, k_.level());
    llvm::Value* line = sums_of(ir.CreateSub(r, first));
    llvm::Value* here = smaller(columns_left, k_.number(tile_.columns()));
    k_.set_lanes(tile_.lanes);
    const bool cut = tile_.lanes > 1 && leaves_rest(n_, tile_.lanes);
    if (cut && k_.target().masks) {  // all vectors in one piece of code
      llvm::Value* c = k_.begin_loop(k_.number(0), here, k_.number(tile_.lanes));
      k_.set_mask(first_lanes(ir, ir.CreateSub(columns_left, c), tile_.lanes));
      finish_vector(row, line, n, c);
      k_.set_mask(nullptr);
      k_.end_loop();
    } else {
      k_.vector_loop(k_.number(0), here, cut, [&](llvm::Value* c) { finish_vector(row, line, n, c); });
    }
    k_.set_lanes(1);
    k_.end_loop();
  }

  void finish_vector(const Index& row, llvm::Value* line, llvm::Value* n, llvm::Value* c) {
    auto& ir = k_.ir();
    llvm::Type* vector = element_;
    if (k_.lanes() > 1) vector = llvm::FixedVectorType::get(element_, static_cast<unsigned>(k_.lanes()));
    llvm::Value* sum =
        ir.CreateAlignedLoad(vector, ir.CreateGEP(element_, line, c), llvm::Align(size_of(tile_.dtype)));
    Position p = position(row, k_.lane_index(ir.CreateAdd(n, c), k_.level()));
    if (is_group_sum(node_)) {
      p = k_.in_group(p);
      sum = k_.add_to_group(node_, p, sum);
    }
    k_.define(node_, {sum, k_.level()});
    k_.finish_roots(p);
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
  bool panels_ = false;  ///< B lies in panels (plan.h)
  std::vector<const Node*> fetched_;
  llvm::AllocaInst* sums_ = nullptr;
  llvm::AllocaInst* packed_ = nullptr;
  llvm::Value* depth_begin_ = nullptr;
  llvm::Value* depth_end_ = nullptr;
  std::pair<llvm::Value*, llvm::Value*> rows_;
  std::pair<llvm::Value*, llvm::Value*> columns_;
  std::vector<Index> batch_;
};

}  // namespace

void emit_matmul(KernelBuilder& k) { MatmulEmitter(k).run(); }

}  // namespace tightloop::backends::cpu
