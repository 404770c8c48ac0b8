// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/Module.h>
#include <tightloop/backends/cpu/codegen/kernel_builder.h>
#include <tightloop/backends/cpu/codegen/tile.h>

#include <string>
#include <utility>
#include <vector>

namespace tightloop::backends::cpu {
namespace {

/// The function of this name, and whether the module had it.
std::pair<llvm::Function*, bool> declared(llvm::Module& module, llvm::FunctionType* type,
                                          const std::string& symbol) {
  if (llvm::Function* known = module.getFunction(symbol)) return {known, true};
  return {llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module), false};
}

/// Steps of K in one round of the loop. Tiles of few rows are for the edges: small code serves them.
int unroll(const Tile& tile) { return tile.rows > 4 ? 4 : 1; }

/// One mask a vector of the tile, for the columns that are left.
std::vector<llvm::Value*> column_masks(llvm::IRBuilder<>& b, llvm::Value* columns_left, const Tile& tile) {
  std::vector<llvm::Value*> masks;
  for (int v = 0; v < tile.vectors; ++v) {
    llvm::Value* left = b.CreateSub(columns_left, b.getInt64(static_cast<std::uint64_t>(v * tile.lanes)));
    masks.push_back(first_lanes(b, left, tile.lanes));
  }
  return masks;
}

class TileEmitter {
 public:
  TileEmitter(llvm::Module& module, const Target& target, const Tile& tile, llvm::Function& function)
      : tile_(tile), b_(module.getContext()), s_(b_, target), function_(&function) {
    set_vector_width(*function_, target);
    function_->addFnAttr(llvm::Attribute::NoInline);
    for (const unsigned i : {0U, 2U, 5U}) function_->addParamAttr(i, llvm::Attribute::NoAlias);
    element_ = element_type(b_.getContext(), tile.dtype);
    a_element_ = memory_type(b_.getContext(), tile.a);
    b_element_ = memory_type(b_.getContext(), tile.b);
    vector_ =
        tile.lanes == 1 ? element_ : llvm::FixedVectorType::get(element_, static_cast<unsigned>(tile.lanes));
  }

  void run() {
    auto& c = b_.getContext();
    auto* entry = llvm::BasicBlock::Create(c, "entry", function_);
    b_.SetInsertPoint(entry);
    if (tile_.masked) masks_ = column_masks(b_, function_->getArg(6), tile_);
    llvm::Value* k_end = function_->getArg(4);
    const int steps = unroll(tile_);
    llvm::Value* split = b_.CreateAnd(k_end, b_.getInt64(static_cast<std::uint64_t>(-steps)));
    const std::size_t count = static_cast<std::size_t>(tile_.rows) * static_cast<std::size_t>(tile_.vectors);
    State state{initial_sums(entry, count), b_.getInt64(0)};
    if (steps > 1) state = loop(state, split, steps);
    state = loop(state, k_end, 1);
    store(state.sums);
    b_.CreateRetVoid();
  }

 private:
  struct State {
    std::vector<llvm::Value*> sums;
    llvm::Value* k;
  };

  /// Zeros, or what lies in out.
  std::vector<llvm::Value*> initial_sums(llvm::BasicBlock* entry, std::size_t count) {
    auto& c = b_.getContext();
    auto* load = llvm::BasicBlock::Create(c, "add", function_);
    auto* start = llvm::BasicBlock::Create(c, "start", function_);
    b_.CreateCondBr(b_.CreateICmpNE(function_->getArg(7), b_.getInt64(0)), load, start);
    b_.SetInsertPoint(load);
    std::vector<llvm::Value*> loaded;
    for (std::size_t i = 0; i < count; ++i)
      loaded.push_back(b_.CreateAlignedLoad(vector_, sum_at(i), llvm::Align(size_of(tile_.dtype))));
    b_.CreateBr(start);
    b_.SetInsertPoint(start);
    std::vector<llvm::Value*> sums;
    for (llvm::Value* earlier : loaded) {
      llvm::PHINode* phi = b_.CreatePHI(vector_, 2);
      phi->addIncoming(llvm::Constant::getNullValue(vector_), entry);
      phi->addIncoming(earlier, load);
      sums.push_back(phi);
    }
    return sums;
  }

  /// Where sum i lies in out.
  llvm::Value* sum_at(std::size_t i) {
    const auto vectors = static_cast<std::size_t>(tile_.vectors);
    const std::size_t at = (i / vectors * static_cast<std::size_t>(tile_.pitch) + i % vectors) *
                           static_cast<std::size_t>(tile_.lanes);
    return b_.CreateConstGEP1_64(element_, function_->getArg(5), at);
  }

  /// for (; k < end; k += unroll) sums += …
  State loop(const State& initial, llvm::Value* end, int unroll) {
    auto& c = b_.getContext();
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* body = llvm::BasicBlock::Create(c, "k", function_);
    auto* after = llvm::BasicBlock::Create(c, "k.done", function_);
    b_.CreateCondBr(b_.CreateICmpSLT(initial.k, end), body, after);
    b_.SetInsertPoint(body);
    std::vector<llvm::PHINode*> phis;
    for (llvm::Value* s : initial.sums) {
      phis.push_back(b_.CreatePHI(vector_, 2));
      phis.back()->addIncoming(s, before);
    }
    llvm::PHINode* k = b_.CreatePHI(b_.getInt64Ty(), 2);
    k->addIncoming(initial.k, before);
    std::vector<llvm::Value*> sums(phis.begin(), phis.end());
    for (int u = 0; u < unroll; ++u) step(sums, b_.CreateAdd(k, b_.getInt64(static_cast<std::uint64_t>(u))));
    llvm::Value* next = b_.CreateAdd(k, b_.getInt64(static_cast<std::uint64_t>(unroll)));
    for (std::size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(sums[i], body);
    k->addIncoming(next, body);
    b_.CreateCondBr(b_.CreateICmpSLT(next, end), body, after);
    b_.SetInsertPoint(after);
    State out{{}, nullptr};
    for (std::size_t i = 0; i < sums.size(); ++i) {
      llvm::PHINode* phi = b_.CreatePHI(vector_, 2);
      phi->addIncoming(initial.sums[i], before);
      phi->addIncoming(sums[i], body);
      out.sums.push_back(phi);
    }
    llvm::PHINode* last = b_.CreatePHI(b_.getInt64Ty(), 2);
    last->addIncoming(initial.k, before);
    last->addIncoming(next, body);
    out.k = last;
    return out;
  }

  void step(std::vector<llvm::Value*>& sums, llvm::Value* k) {
    llvm::Value* b_row =
        b_.CreateGEP(b_element_, function_->getArg(2), b_.CreateMul(k, function_->getArg(3)));
    std::vector<llvm::Value*> columns;
    for (int v = 0; v < tile_.vectors; ++v) {
      llvm::Value* p = b_.CreateConstGEP1_64(b_element_, b_row, static_cast<std::uint64_t>(v * tile_.lanes));
      columns.push_back(load_vector(p, tile_.masked ? masks_[static_cast<std::size_t>(v)] : nullptr));
    }
    llvm::Value* a_stride = function_->getArg(1);
    for (int m = 0; m < tile_.rows; ++m) {
      llvm::Value* row = b_.getInt64(static_cast<std::uint64_t>(m));
      llvm::Value* line = b_.CreateGEP(a_element_, function_->getArg(0),
                                       b_.CreateMul(tile_.a_transposed ? k : row, a_stride));
      llvm::Value* p = b_.CreateGEP(a_element_, line, tile_.a_transposed ? row : k);
      llvm::Value* a =
          s_.from_memory(b_.CreateAlignedLoad(a_element_, p, llvm::Align(size_of(tile_.a))), tile_.a);
      if (tile_.lanes > 1) a = b_.CreateVectorSplat(static_cast<unsigned>(tile_.lanes), a);
      for (int v = 0; v < tile_.vectors; ++v) {
        llvm::Value*& sum = sums[static_cast<std::size_t>(m * tile_.vectors + v)];
        sum = multiply_add(a, columns[static_cast<std::size_t>(v)], sum);
      }
    }
  }

  /// Columns of B; those that a mask leaves out are 0.
  llvm::Value* load_vector(llvm::Value* p, llvm::Value* mask) {
    llvm::Type* type = tile_.lanes == 1
                           ? b_element_
                           : llvm::FixedVectorType::get(b_element_, static_cast<unsigned>(tile_.lanes));
    const llvm::Align align(size_of(tile_.b));
    llvm::Value* raw = mask != nullptr ? static_cast<llvm::Value*>(b_.CreateMaskedLoad(
                                             type, p, align, mask, llvm::Constant::getNullValue(type)))
                                       : b_.CreateAlignedLoad(type, p, align);
    return s_.from_memory(raw, tile_.b);
  }

  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    const auto wrap = [&](llvm::Value* v) { return s_.wrap(v, tile_.dtype); };
    if (is_floating(tile_.dtype)) return VectorBuilder::value(s_.fma(wrap(a), wrap(b), wrap(c)));
    return VectorBuilder::value(s_.add(wrap(c), s_.mul(wrap(a), wrap(b))));
  }

  void store(const std::vector<llvm::Value*>& sums) {
    for (std::size_t i = 0; i < sums.size(); ++i)
      b_.CreateAlignedStore(sums[i], sum_at(i), llvm::Align(size_of(tile_.dtype)));
  }

  Tile tile_;
  llvm::IRBuilder<> b_;
  VectorBuilder s_;
  llvm::Function* function_;
  llvm::Type* element_ = nullptr;
  llvm::Type *a_element_ = nullptr, *b_element_ = nullptr;  ///< as they lie in memory
  llvm::Type* vector_ = nullptr;
  std::vector<llvm::Value*> masks_;
};

/// "f32", or "f32_bf16_f32" of operands stored in other types.
std::string names_of(const Tile& t) {
  std::string all(name(t.dtype));
  if (t.a != t.dtype || t.b != t.dtype) all += "_" + std::string(name(t.a)) + "_" + std::string(name(t.b));
  return all;
}

}  // namespace

Tile best_tile(const Target& target, DType dtype) {
  Tile t;
  t.dtype = t.a = t.b = dtype;
  t.lanes = target.lanes(static_cast<int>(size_of(dtype)));
  t.rows = target.vector_registers >= 32 ? 8 : 6;
  return t;
}

llvm::FunctionType* tile_function_type(llvm::LLVMContext& c) {
  llvm::Type* p = llvm::PointerType::getUnqual(c);
  llvm::Type* n = llvm::Type::getInt64Ty(c);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(c), {p, n, p, n, n, p, n, n}, false);
}

llvm::Function* tile_function(llvm::Module& module, const Target& target, SharedFunctions& shared,
                              const Tile& t) {
  const std::string symbol = "tile_" + names_of(t) + "_" + std::to_string(t.rows) + "x" +
                             std::to_string(t.vectors) + "x" + std::to_string(t.lanes) +
                             (t.pitch == t.vectors ? "" : "_p" + std::to_string(t.pitch)) +
                             (t.masked ? "_masked" : "") + (t.a_transposed ? "_t" : "");
  const auto [function, known] = declared(module, tile_function_type(module.getContext()), symbol);
  if (!known && shared.claim(symbol)) TileEmitter(module, target, t, *function).run();
  return function;
}

llvm::FunctionType* pack_function_type(llvm::LLVMContext& c) {
  llvm::Type* p = llvm::PointerType::getUnqual(c);
  llvm::Type* n = llvm::Type::getInt64Ty(c);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(c), {p, n, n, p, n}, false);
}

llvm::Function* pack_function(llvm::Module& module, const Target& target, SharedFunctions& shared,
                              const Tile& tile) {
  const std::string symbol = "pack_" + std::string(name(tile.b)) + std::string(name(tile.dtype)) + "_" +
                             std::to_string(tile.columns());
  const auto [f, known] = declared(module, pack_function_type(module.getContext()), symbol);
  if (known || !shared.claim(symbol)) return f;
  llvm::IRBuilder<> b(module.getContext());
  set_vector_width(*f, target);
  f->addFnAttr(llvm::Attribute::NoInline);
  VectorBuilder s(b, target);
  llvm::Type* element = element_type(module.getContext(), tile.dtype);
  llvm::Type* stored = memory_type(module.getContext(), tile.b);
  auto* vector = llvm::FixedVectorType::get(stored, static_cast<unsigned>(tile.lanes));
  const llvm::Align align(size_of(tile.dtype)), stored_align(size_of(tile.b));
  auto* entry = llvm::BasicBlock::Create(module.getContext(), "entry", f);
  auto* body = llvm::BasicBlock::Create(module.getContext(), "k", f);
  auto* done = llvm::BasicBlock::Create(module.getContext(), "done", f);
  b.SetInsertPoint(entry);
  const auto masks = column_masks(b, f->getArg(4), tile);
  b.CreateCondBr(b.CreateICmpSGT(f->getArg(2), b.getInt64(0)), body, done);
  b.SetInsertPoint(body);
  llvm::PHINode* k = b.CreatePHI(b.getInt64Ty(), 2);
  k->addIncoming(b.getInt64(0), entry);
  llvm::Value* from = b.CreateGEP(stored, f->getArg(0), b.CreateMul(k, f->getArg(1)));
  const auto width = static_cast<std::uint64_t>(tile.pitch * tile.lanes);
  llvm::Value* to = b.CreateGEP(element, f->getArg(3), b.CreateMul(k, b.getInt64(width)));
  for (int v = 0; v < tile.vectors; ++v) {
    const auto at = static_cast<std::uint64_t>(v * tile.lanes);
    llvm::Value* x =
        b.CreateMaskedLoad(vector, b.CreateConstGEP1_64(stored, from, at), stored_align,
                           masks[static_cast<std::size_t>(v)], llvm::Constant::getNullValue(vector));
    b.CreateAlignedStore(s.from_memory(x, tile.b), b.CreateConstGEP1_64(element, to, at), align);
  }
  llvm::Value* next = b.CreateAdd(k, b.getInt64(1));
  k->addIncoming(next, body);
  b.CreateCondBr(b.CreateICmpSLT(next, f->getArg(2)), body, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return f;
}

}  // namespace tightloop::backends::cpu
