// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/Module.h>
#include <tightloop/backends/cpu/codegen/kernel_builder.h>
#include <tightloop/backends/cpu/codegen/tile.h>

#include <string>
#include <vector>

namespace tightloop::backends::cpu {
namespace {

constexpr int kUnroll = 4;

class TileEmitter {
 public:
  TileEmitter(llvm::Module& module, const Target& target, const Tile& tile, const std::string& symbol)
      : tile_(tile), b_(module.getContext()), s_(b_, target) {
    function_ = llvm::Function::Create(tile_function_type(module.getContext()),
                                       llvm::Function::InternalLinkage, symbol, module);
    set_vector_width(*function_, target);
    function_->addFnAttr(llvm::Attribute::NoInline);
    for (const unsigned i : {0U, 2U, 5U}) function_->addParamAttr(i, llvm::Attribute::NoAlias);
    element_ = element_type(b_.getContext(), tile.dtype);
    vector_ =
        tile.lanes == 1 ? element_ : llvm::FixedVectorType::get(element_, static_cast<unsigned>(tile.lanes));
  }

  llvm::Function* run() {
    auto& c = b_.getContext();
    auto* entry = llvm::BasicBlock::Create(c, "entry", function_);
    b_.SetInsertPoint(entry);
    if (tile_.masked) make_masks();
    llvm::Value* k_end = function_->getArg(4);
    llvm::Value* split = b_.CreateAnd(k_end, b_.getInt64(static_cast<std::uint64_t>(-kUnroll)));
    const std::size_t count = static_cast<std::size_t>(tile_.rows) * static_cast<std::size_t>(tile_.vectors);
    State state{std::vector<llvm::Value*>(count, llvm::Constant::getNullValue(vector_)), b_.getInt64(0)};
    state = loop(state, split, kUnroll);
    state = loop(state, k_end, 1);
    store(state.sums);
    b_.CreateRetVoid();
    return function_;
  }

 private:
  struct State {
    std::vector<llvm::Value*> sums;
    llvm::Value* k;
  };

  void make_masks() {
    for (int v = 0; v < tile_.vectors; ++v) {
      llvm::Value* left =
          b_.CreateSub(function_->getArg(6), b_.getInt64(static_cast<std::uint64_t>(v * tile_.lanes)));
      masks_.push_back(first_lanes(b_, left, tile_.lanes));
    }
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
    const llvm::Align align(size_of(tile_.dtype));
    llvm::Value* b_row = b_.CreateGEP(element_, function_->getArg(2), b_.CreateMul(k, function_->getArg(3)));
    std::vector<llvm::Value*> columns;
    for (int v = 0; v < tile_.vectors; ++v) {
      llvm::Value* p = b_.CreateConstGEP1_64(element_, b_row, static_cast<std::uint64_t>(v * tile_.lanes));
      columns.push_back(tile_.masked ? static_cast<llvm::Value*>(b_.CreateMaskedLoad(
                                           vector_, p, align, masks_[static_cast<std::size_t>(v)],
                                           llvm::Constant::getNullValue(vector_)))
                                     : b_.CreateAlignedLoad(vector_, p, align));
    }
    for (int m = 0; m < tile_.rows; ++m) {
      llvm::Value* row = b_.getInt64(static_cast<std::uint64_t>(m));
      llvm::Value* p =
          tile_.a_transposed
              ? b_.CreateGEP(
                    element_,
                    b_.CreateGEP(element_, function_->getArg(0), b_.CreateMul(k, function_->getArg(1))), row)
              : b_.CreateGEP(
                    element_,
                    b_.CreateGEP(element_, function_->getArg(0), b_.CreateMul(row, function_->getArg(1))), k);
      llvm::Value* a = b_.CreateAlignedLoad(element_, p, align);
      if (tile_.lanes > 1) a = b_.CreateVectorSplat(static_cast<unsigned>(tile_.lanes), a);
      for (int v = 0; v < tile_.vectors; ++v) {
        llvm::Value*& sum = sums[static_cast<std::size_t>(m * tile_.vectors + v)];
        sum = multiply_add(a, columns[static_cast<std::size_t>(v)], sum);
      }
    }
  }

  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
    const auto wrap = [&](llvm::Value* v) { return s_.wrap(v, tile_.dtype); };
    if (is_floating(tile_.dtype)) return VectorBuilder::value(s_.fma(wrap(a), wrap(b), wrap(c)));
    return VectorBuilder::value(s_.add(wrap(c), s_.mul(wrap(a), wrap(b))));
  }

  void store(const std::vector<llvm::Value*>& sums) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const auto at = static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(tile_.lanes);
      b_.CreateAlignedStore(sums[i], b_.CreateConstGEP1_64(element_, function_->getArg(5), at),
                            llvm::Align(size_of(tile_.dtype)));
    }
  }

  Tile tile_;
  llvm::IRBuilder<> b_;
  VectorBuilder s_;
  llvm::Function* function_ = nullptr;
  llvm::Type* element_ = nullptr;
  llvm::Type* vector_ = nullptr;
  std::vector<llvm::Value*> masks_;
};

}  // namespace

Tile best_tile(const Target& target, DType dtype) {
  Tile t;
  t.dtype = dtype;
  t.lanes = target.lanes(static_cast<int>(size_of(dtype)));
  t.rows = target.vector_registers >= 32 ? 8 : 6;
  return t;
}

llvm::FunctionType* tile_function_type(llvm::LLVMContext& c) {
  llvm::Type* p = llvm::PointerType::getUnqual(c);
  llvm::Type* n = llvm::Type::getInt64Ty(c);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(c), {p, n, p, n, n, p, n}, false);
}

llvm::Function* tile_function(llvm::Module& module, const Target& target, const Tile& t) {
  const std::string symbol = "tile_" + std::string(name(t.dtype)) + "_" + std::to_string(t.rows) + "x" +
                             std::to_string(t.vectors) + "x" + std::to_string(t.lanes) +
                             (t.masked ? "_masked" : "") + (t.a_transposed ? "_t" : "");
  if (llvm::Function* known = module.getFunction(symbol)) return known;
  return TileEmitter(module, target, t, symbol).run();
}

}  // namespace tightloop::backends::cpu
