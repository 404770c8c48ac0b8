// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/Module.h>
#include <tightloop/backends/cpu/codegen/kernels.h>

#include <string>
#include <vector>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

/// One step of the recursive transpose: the off-diagonal blocks of size `distance` swap.
void exchange(llvm::IRBuilder<>& b, std::vector<llvm::Value*>& v, int distance) {
  const int lanes = static_cast<int>(v.size());
  std::vector<int> low;
  std::vector<int> high;
  for (int i = 0; i < lanes; ++i) {
    const bool second = (i / distance) % 2 == 1;
    low.push_back(second ? lanes + i - distance : i);
    high.push_back(second ? lanes + i : i + distance);
  }
  for (int i = 0; i < lanes; ++i) {
    if ((i / distance) % 2 == 1) continue;
    llvm::Value*& x = v[static_cast<std::size_t>(i)];
    llvm::Value*& y = v[static_cast<std::size_t>(i + distance)];
    llvm::Value* first = b.CreateShuffleVector(x, y, low);
    y = b.CreateShuffleVector(x, y, high);
    x = first;
  }
}

/// (from, its stride, to, its stride): lanes × lanes elements transposed in registers. Made once per module.
llvm::Function* block_function(llvm::Module& module, const Target& target, llvm::Type* element, int lanes) {
  const std::string symbol = "transpose_" + std::to_string(lanes) + (element->isFloatTy() ? "f" : "i");
  if (llvm::Function* known = module.getFunction(symbol)) return known;
  llvm::IRBuilder<> b(module.getContext());
  llvm::Type* p = b.getPtrTy();
  llvm::Type* n = b.getInt64Ty();
  auto* f = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {p, n, p, n}, false),
                                   llvm::Function::InternalLinkage, symbol, module);
  set_vector_width(*f, target);
  f->addFnAttr(llvm::Attribute::NoInline);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", f));
  auto* vector = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  const auto line = [&](unsigned base, int i) {
    llvm::Value* offset = b.CreateMul(f->getArg(base + 1), b.getInt64(static_cast<std::uint64_t>(i)));
    return b.CreateGEP(element, f->getArg(base), offset);
  };
  std::vector<llvm::Value*> v;
  for (int i = 0; i < lanes; ++i) v.push_back(b.CreateAlignedLoad(vector, line(0, i), llvm::Align(4)));
  for (int distance = lanes / 2; distance > 0; distance /= 2) exchange(b, v, distance);
  for (int i = 0; i < lanes; ++i)
    b.CreateAlignedStore(v[static_cast<std::size_t>(i)], line(2, i), llvm::Align(4));
  b.CreateRetVoid();
  return f;
}

class TransposeEmitter {
 public:
  explicit TransposeEmitter(KernelBuilder& k) : k_(k), node_(k.kernel().roots[0]) {
    const Shape& shape = node_->type.shape;
    rows_ = shape[shape.rank() - 2];
    columns_ = shape[shape.rank() - 1];
    element_ = element_type(k.ir().getContext(), node_->type.dtype);
    panels_ = k.plan().in_panels.contains(node_);
  }

  void run() {
    const int lanes = k_.target().lanes(4);
    const Shape& shape = node_->type.shape;
    const auto [begin, end] = k_.share(rows_, lanes);
    llvm::Value* matrix = k_.number(0);
    const std::size_t outer = shape.rank() - 2;
    for (std::size_t d = 0; d < outer; ++d) {
      llvm::Value* i = k_.begin_loop(k_.number(0), k_.extent(shape[d]), k_.number(1));
      matrix = k_.ir().CreateAdd(k_.ir().CreateMul(matrix, k_.extent(shape[d])), i);
    }
    llvm::Value* start = k_.ir().CreateMul(matrix, k_.ir().CreateMul(k_.extent(rows_), k_.extent(columns_)));
    from_ =
        k_.ir().CreateGEP(element_, k_.buffer(k_.plan().buffer_of(storage_of(node_->inputs[0].id()))), start);
    for (const int id : k_.plan().stores.at(node_))
      to_.push_back(k_.ir().CreateGEP(element_, k_.buffer(id), start));
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
    if (leaves_rest(columns_, lanes))
      elements(r, k_.ir().CreateAdd(r, k_.number(lanes)), last, k_.extent(columns_));
    k_.end_loop();
  }

  /// Where result element [r, c] lies.
  llvm::Value* result_at(llvm::Value* r, llvm::Value* c) {
    auto& ir = k_.ir();
    if (!panels_) return ir.CreateAdd(ir.CreateMul(r, k_.extent(columns_)), c);
    llvm::Value* in_panel = ir.CreateAnd(c, k_.number(kPanelColumns - 1));
    llvm::Value* start = ir.CreateMul(ir.CreateSub(c, in_panel), k_.extent(rows_));
    return ir.CreateAdd(start, ir.CreateAdd(ir.CreateMul(r, k_.number(kPanelColumns)), in_panel));
  }

  /// Result element [r, c] is source element [c, r]: source lines c…c+lanes become result lines r…r+lanes.
  void one_block(llvm::Value* r, llvm::Value* c, int lanes) {
    auto& ir = k_.ir();
    llvm::Function* block = block_function(*k_.function()->getParent(), k_.target(), element_, lanes);
    llvm::Value* source = ir.CreateGEP(element_, from_, ir.CreateAdd(ir.CreateMul(c, k_.extent(rows_)), r));
    llvm::Value* offset = result_at(r, c);
    llvm::Value* stride = panels_ ? k_.number(kPanelColumns) : k_.extent(columns_);
    for (llvm::Value* to : to_)
      ir.CreateCall(block, {source, k_.extent(rows_), ir.CreateGEP(element_, to, offset), stride});
  }

  /// One at a time, for the edges.
  void elements(llvm::Value* r_begin, llvm::Value* r_end, llvm::Value* c_begin, llvm::Value* c_end) {
    auto& ir = k_.ir();
    llvm::Value* r = k_.begin_loop(r_begin, r_end, k_.number(1));
    llvm::Value* c = k_.begin_loop(c_begin, c_end, k_.number(1));
    llvm::Value* at = ir.CreateAdd(ir.CreateMul(c, k_.extent(rows_)), r);
    llvm::Value* x = ir.CreateAlignedLoad(element_, ir.CreateGEP(element_, from_, at), llvm::Align(4));
    llvm::Value* there = result_at(r, c);
    for (llvm::Value* to : to_) ir.CreateAlignedStore(x, ir.CreateGEP(element_, to, there), llvm::Align(4));
    k_.end_loop();
    k_.end_loop();
  }

  KernelBuilder& k_;
  const Node* node_;
  Dim rows_;
  Dim columns_;
  bool panels_ = false;
  llvm::Type* element_ = nullptr;
  llvm::Value* from_ = nullptr;
  std::vector<llvm::Value*> to_;
};

}  // namespace

void emit_transpose(KernelBuilder& k) { TransposeEmitter(k).run(); }

}  // namespace tightloop::backends::cpu
