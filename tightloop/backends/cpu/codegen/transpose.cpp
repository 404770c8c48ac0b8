// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/codegen/kernels.h>

#include <algorithm>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

class TransposeEmitter {
 public:
  explicit TransposeEmitter(KernelBuilder& k) : k_(k), node_(k.kernel().roots[0]) {
    const Shape& shape = node_->type.shape;
    rows_ = shape[shape.rank() - 2];
    columns_ = shape[shape.rank() - 1];
    element_ = element_type(k.ir().getContext(), node_->type.dtype);
  }

  void run() {
    const int lanes = k_.target().lanes(4);
    const Shape& shape = node_->type.shape;
    const auto [begin, end] = k_.share(k_.extent(rows_), lanes);
    llvm::Value* matrix = k_.number(0);
    const std::size_t outer = shape.rank() - 2;
    for (std::size_t d = 0; d < outer; ++d) {
      llvm::Value* i = k_.begin_loop(k_.number(0), k_.extent(shape[d]), k_.number(1));
      matrix = k_.ir().CreateAdd(k_.ir().CreateMul(matrix, k_.extent(shape[d])), i);
    }
    llvm::Value* start = k_.ir().CreateMul(matrix, k_.ir().CreateMul(k_.extent(rows_), k_.extent(columns_)));
    from_ = k_.ir().CreateGEP(element_, k_.buffer(k_.plan().buffer_of(storage_of(node_->inputs[0].id()))), start);
    for (const int id : k_.plan().stores.at(node_)) to_.push_back(k_.ir().CreateGEP(element_, k_.buffer(id), start));
    llvm::Value* whole = k_.ir().CreateAnd(k_.ir().CreateSub(end, begin), k_.number(-lanes));
    llvm::Value* split = k_.ir().CreateAdd(begin, whole);
    blocks(begin, split, lanes);
    elements(split, end, k_.number(0), k_.extent(columns_));
    for (std::size_t d = 0; d < outer; ++d) k_.end_loop();
  }

 private:
  /// Result rows [begin, end), a multiple of lanes: whole blocks, then the columns that are left.
  void blocks(llvm::Value* begin, llvm::Value* end, int lanes) {
    llvm::Value* r = k_.begin_loop(begin, end, k_.number(lanes));
    llvm::Value* last = k_.ir().CreateAnd(k_.extent(columns_), k_.number(-lanes));
    llvm::Value* c = k_.begin_loop(k_.number(0), last, k_.number(lanes));
    one_block(r, c, lanes);
    k_.end_loop();
    if (leaves_rest(columns_, lanes)) elements(r, k_.ir().CreateAdd(r, k_.number(lanes)), last, k_.extent(columns_));
    k_.end_loop();
  }

  /// Result element [r, c] is source element [c, r]: source lines c…c+lanes become result lines r…r+lanes.
  void one_block(llvm::Value* r, llvm::Value* c, int lanes) {
    auto& ir = k_.ir();
    auto* vector = llvm::FixedVectorType::get(element_, static_cast<unsigned>(lanes));
    std::vector<llvm::Value*> v;
    for (int i = 0; i < lanes; ++i) {
      llvm::Value* line = ir.CreateMul(ir.CreateAdd(c, k_.number(i)), k_.extent(rows_));
      v.push_back(ir.CreateAlignedLoad(vector, ir.CreateGEP(element_, from_, ir.CreateAdd(line, r)), llvm::Align(4)));
    }
    for (int distance = lanes / 2; distance > 0; distance /= 2) exchange(v, lanes, distance);
    for (int i = 0; i < lanes; ++i) {
      llvm::Value* line = ir.CreateMul(ir.CreateAdd(r, k_.number(i)), k_.extent(columns_));
      for (llvm::Value* to : to_)
        ir.CreateAlignedStore(v[static_cast<std::size_t>(i)], ir.CreateGEP(element_, to, ir.CreateAdd(line, c)), llvm::Align(4));
    }
  }

  /// One step of the recursive transpose: the off-diagonal blocks of size `distance` swap.
  void exchange(std::vector<llvm::Value*>& v, int lanes, int distance) {
    std::vector<int> low;
    std::vector<int> high;
    for (int i = 0; i < lanes; ++i) {
      const bool second = (i / distance) % 2 == 1;
      low.push_back(second ? lanes + i - distance : i);
      high.push_back(second ? lanes + i : i + distance);
    }
    for (int i = 0; i < lanes; ++i) {
      if ((i / distance) % 2 == 1) continue;
      llvm::Value*& a = v[static_cast<std::size_t>(i)];
      llvm::Value*& b = v[static_cast<std::size_t>(i + distance)];
      llvm::Value* first = k_.ir().CreateShuffleVector(a, b, low);
      b = k_.ir().CreateShuffleVector(a, b, high);
      a = first;
    }
  }

  /// One at a time, for the edges.
  void elements(llvm::Value* r_begin, llvm::Value* r_end, llvm::Value* c_begin, llvm::Value* c_end) {
    auto& ir = k_.ir();
    llvm::Value* r = k_.begin_loop(r_begin, r_end, k_.number(1));
    llvm::Value* c = k_.begin_loop(c_begin, c_end, k_.number(1));
    llvm::Value* at = ir.CreateAdd(ir.CreateMul(c, k_.extent(rows_)), r);
    llvm::Value* x = ir.CreateAlignedLoad(element_, ir.CreateGEP(element_, from_, at), llvm::Align(4));
    llvm::Value* there = ir.CreateAdd(ir.CreateMul(r, k_.extent(columns_)), c);
    for (llvm::Value* to : to_) ir.CreateAlignedStore(x, ir.CreateGEP(element_, to, there), llvm::Align(4));
    k_.end_loop();
    k_.end_loop();
  }

  KernelBuilder& k_;
  const Node* node_;
  Dim rows_;
  Dim columns_;
  llvm::Type* element_ = nullptr;
  llvm::Value* from_ = nullptr;
  std::vector<llvm::Value*> to_;
};

}  // namespace

void emit_transpose(KernelBuilder& k) { TransposeEmitter(k).run(); }

}  // namespace tightloop::backends::cpu
