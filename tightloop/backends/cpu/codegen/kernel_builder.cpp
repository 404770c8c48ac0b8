// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/Module.h>
#include <tightloop/backends/cpu/codegen/kernel_builder.h>
#include <tightloop/backends/cpu/runtime/context.h>

#include <algorithm>
#include <cstddef>

namespace tightloop::backends::cpu {

using llvm::Value;
using V = Emitted;

void set_vector_width(llvm::Function& f, const Target& target) {
  const std::string width = std::to_string(target.vector_bytes * 8);
  f.addFnAttr("prefer-vector-width", width);
  f.addFnAttr("min-legal-vector-width", width);
  f.addFnAttr(llvm::Attribute::NoUnwind);
}

namespace {

void stand_after(llvm::IRBuilder<>& b, Value* v) {
  auto* instruction = llvm::cast<llvm::Instruction>(v);
  b.SetInsertPoint(instruction->getParent(), std::next(instruction->getIterator()));
}

}  // namespace

KernelBuilder::KernelBuilder(llvm::Module& module, const Plan& plan, const Target& target,
                             const Kernel& kernel, const Terms& terms, SharedFunctions& shared,
                             const std::string& symbol)
    : module_(module),
      plan_(plan),
      target_(target),
      kernel_(kernel),
      terms_(terms),
      shared_(shared),
      function_(nullptr),
      b_(module.getContext()),
      s_(b_, target) {
  llvm::Type* pointer = b_.getPtrTy();
  auto* type =
      llvm::FunctionType::get(b_.getVoidTy(), {pointer, b_.getInt64Ty(), b_.getInt64Ty(), pointer}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
  set_vector_width(*function_, target);
  part_ = function_->getArg(1);
  parts_ = function_->getArg(2);
  Level entry;
  entry.block = llvm::BasicBlock::Create(b_.getContext(), "entry", function_);
  levels_.push_back(entry);
  b_.SetInsertPoint(entry.block);
}

void KernelBuilder::finish() {
  require(levels_.size() == 1, "KernelBuilder: a loop is still open");
  stand_at(0);
  b_.CreateRetVoid();
}

void KernelBuilder::stand_at(int level) {
  const Level& l = levels_[static_cast<std::size_t>(level)];
  if (l.end != nullptr)
    b_.SetInsertPoint(l.end);
  else
    b_.SetInsertPoint(l.block);
}

Value* KernelBuilder::context_member(std::size_t offset) {
  if (const auto at = members_.find(offset); at != members_.end()) return at->second;
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), function_->getArg(0), offset);
  llvm::Type* type =
      offset == offsetof(StepContext, buffers) ? static_cast<llvm::Type*>(b_.getPtrTy()) : b_.getInt64Ty();
  return members_[offset] = b_.CreateLoad(type, p);
}

Value* KernelBuilder::buffer(int id) {
  if (const auto at = buffers_.find(id); at != buffers_.end()) return at->second;
  Value* table = context_member(offsetof(StepContext, buffers));
  Value* entry = terms_.values.empty() ? number(id) : told(terms_.buffers.at(id));  // before the table
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  stand_after(b_, table);
  Value* slot = b_.CreateInBoundsGEP(b_.getPtrTy(), table, entry);
  return buffers_[id] = b_.CreateLoad(b_.getPtrTy(), slot);
}

Value* KernelBuilder::told(std::size_t number) {
  if (const auto at = told_.find(number); at != told_.end()) return at->second;
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), function_->getArg(3), number);
  return told_[number] = b_.CreateLoad(b_.getInt64Ty(), p);
}

Value* KernelBuilder::extent(const Dim& d) {
  if (d.is_static()) return number(d.factor);
  Value* n = context_member(d.symbol == Symbol::batch  ? offsetof(StepContext, batch)
                            : d.symbol == Symbol::rows ? offsetof(StepContext, rows)
                                                       : offsetof(StepContext, groups));
  if (d.factor == 1) return n;
  const auto key = std::make_pair(d.symbol, d.factor);
  if (const auto at = extents_.find(key); at != extents_.end()) return at->second;
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  stand_after(b_, n);
  return extents_[key] = b_.CreateMul(n, number(d.factor));
}

std::pair<Value*, Value*> KernelBuilder::whole(const Dim& d) {
  if (!kernel_.batchwise || d.symbol != Symbol::batch) return {number(0), extent(d)};
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  return {b_.CreateMul(part_, number(d.factor)), b_.CreateMul(parts_, number(d.factor))};
}

std::pair<Value*, Value*> KernelBuilder::share(const Dim& d, std::int64_t grain) {
  if (kernel_.batchwise) return whole(d);
  Value* count = extent(d);
  Value* units = b_.CreateUDiv(b_.CreateAdd(count, number(grain - 1)), number(grain));
  Value* chunk = b_.CreateUDiv(b_.CreateAdd(units, b_.CreateSub(parts_, number(1))), parts_);
  chunk = b_.CreateMul(chunk, number(grain));
  Value* begin = b_.CreateMul(part_, chunk);
  begin = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, begin, count);
  Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b_.CreateAdd(begin, chunk), count);
  return {begin, end};
}

Value* KernelBuilder::begin_loop(Value* begin, Value* end, Value* step) {
  stand_at(level());
  Level& outer = levels_.back();
  auto& c = b_.getContext();
  Level inner;
  inner.header = llvm::BasicBlock::Create(c, "loop", function_);
  inner.block = llvm::BasicBlock::Create(c, "body", function_);
  inner.exit = llvm::BasicBlock::Create(c, "done", function_);
  inner.step = step;
  llvm::BasicBlock* from = b_.GetInsertBlock();
  outer.end = b_.CreateBr(inner.header);
  b_.SetInsertPoint(inner.header);
  inner.counter = b_.CreatePHI(b_.getInt64Ty(), 2);
  inner.counter->addIncoming(begin, from);
  b_.CreateCondBr(b_.CreateICmpSLT(inner.counter, end), inner.block, inner.exit);
  levels_.push_back(inner);
  stand_at(level());
  return inner.counter;
}

void KernelBuilder::end_loop() {
  stand_at(level());
  const Level inner = levels_.back();
  const int gone = level();
  Value* next = b_.CreateAdd(inner.counter, inner.step);
  inner.counter->addIncoming(next, b_.GetInsertBlock());
  b_.CreateBr(inner.header);
  levels_.pop_back();
  Level& outer = levels_.back();
  outer.block = inner.exit;
  outer.end = nullptr;
  std::erase_if(known_, [&](const auto& entry) { return entry.second.level >= gone; });
  std::erase_if(rows_, [&](const auto& entry) { return entry.second.level >= gone; });
  std::erase_if(current_, [&](const auto& entry) { return entry.second.level >= gone; });
  stand_at(level());
}

llvm::AllocaInst* KernelBuilder::slot(llvm::Type* type) {
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.begin());
  return b_.CreateAlloca(type);
}

Value* KernelBuilder::splat(Value* v) {
  if (lanes_ == 1 || v->getType()->isVectorTy()) return v;
  return b_.CreateVectorSplat(static_cast<unsigned>(lanes_), v);
}

Index KernelBuilder::loop_index(Value* begin, Value* end) {
  Value* i = begin_loop(begin, end, number(1));
  return uniform_index(i, level());
}

Index KernelBuilder::uniform_index(Value* base, int level) { return {base, 0, nullptr, level, next_id_++}; }
Index KernelBuilder::lane_index(Value* base, int level) {
  return {base, lanes_ > 1 ? 1 : 0, nullptr, level, next_id_++};
}

Index KernelBuilder::constant_index(std::int64_t n) {
  return {number(n), 0, nullptr, 0, n == 0 ? 0 : -static_cast<int>(std::min<std::int64_t>(n, 1 << 30))};
}

Index KernelBuilder::from_value(V v) {
  const bool vector = v.v->getType()->isVectorTy();
  return {vector ? nullptr : v.v, 0, vector ? v.v : nullptr, v.level, next_id_++};
}

Index KernelBuilder::add(const Index& i, std::int64_t n) {
  if (n == 0) return i;
  stand_at(i.level);
  Index out = i;
  if (i.lanes != nullptr)
    out.lanes =
        b_.CreateAdd(i.lanes, llvm::ConstantInt::get(i.lanes->getType(), static_cast<std::uint64_t>(n)));
  else
    out.base = b_.CreateAdd(i.base, number(n));
  out.id = next_id_++;
  return out;
}

Index KernelBuilder::add(const Index& i, Value* n) {
  stand_at(i.level);
  Index out = i;
  if (i.lanes != nullptr)
    out.lanes = b_.CreateAdd(i.lanes, b_.CreateVectorSplat(static_cast<unsigned>(lanes_), n));
  else
    out.base = b_.CreateAdd(i.base, n);
  out.id = next_id_++;
  return out;
}

Index KernelBuilder::scale(const Index& i, std::int64_t n) {
  if (n == 1) return i;
  stand_at(i.level);
  Index out = i;
  if (i.lanes != nullptr) {
    out.lanes =
        b_.CreateMul(i.lanes, llvm::ConstantInt::get(i.lanes->getType(), static_cast<std::uint64_t>(n)));
  } else {
    out.base = b_.CreateMul(i.base, number(n));
    out.step = i.step * n;
  }
  out.id = next_id_++;
  return out;
}

V KernelBuilder::positions(const Index& i) {
  if (i.lanes != nullptr) return {i.lanes, i.level};
  if (i.step == 0) return {i.base, i.level};
  stand_at(i.level);
  auto* type = llvm::FixedVectorType::get(b_.getInt64Ty(), static_cast<unsigned>(lanes_));
  Value* lane = b_.CreateStepVector(type);
  if (i.step != 1)
    lane = b_.CreateMul(lane, llvm::ConstantInt::get(type, static_cast<std::uint64_t>(i.step)));
  return {b_.CreateAdd(b_.CreateVectorSplat(static_cast<unsigned>(lanes_), i.base), lane), i.level};
}

Index KernelBuilder::clamp(const Index& i, Value* last) {
  const V p = positions(i);
  stand_at(p.level);
  Value* limit = p.v->getType()->isVectorTy() ? splat(last) : last;
  Value* zero = llvm::Constant::getNullValue(p.v->getType());
  Value* low = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, p.v, zero);
  return from_value({b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, low, limit), p.level});
}

Position KernelBuilder::in_group(Position kept) {
  const Index group = uniform_index(context_member(offsetof(StepContext, group)), 0);
  kept.dims.insert(kept.dims.begin(), group);
  return kept;
}

Value* KernelBuilder::add_to_group(const ir::Node* group_sum, const Position& domain, Value* sum) {
  const DType d = group_sum->type.dtype;
  const V earlier =
      load_fresh(plan_.buffer_of(group_sum), group_sum->type, aligned(group_sum->type.shape, domain));
  stand_at(level());
  Value* fresh = b_.CreateICmpNE(context_member(offsetof(StepContext, fresh)), number(0));
  return b_.CreateSelect(fresh, sum, VectorBuilder::value(s_.add(s_.wrap(earlier.v, d), s_.wrap(sum, d))));
}

Position KernelBuilder::aligned(const Shape& shape, const Position& domain) {
  if (domain.flat) return domain;
  Position p;
  std::size_t next = 0;
  for (const Dim& d : shape) p.dims.push_back(d.is(1) ? constant_index(0) : domain.dims[next++]);
  require(next == domain.dims.size(), "KernelBuilder::aligned: shapes differ");
  return p;
}

Index KernelBuilder::linear(const Shape& shape, const Position& p) {
  if (p.flat) return p.dims[0];
  // Row-major strides: a number, times one symbol value at most.
  Index sum = constant_index(0);
  std::vector<std::size_t> order(p.dims.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return p.dims[a].level < p.dims[b].level; });
  for (const std::size_t d : order) {
    const Index& i = p.dims[d];
    if (i.id == 0) continue;
    std::vector<Dim> rest(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, shape.end());
    const Dim stride = Shape(std::move(rest)).count();
    Index term = scale(i, stride.factor);
    if (!stride.is_static()) {
      const V at = positions(term);
      stand_at(at.level);
      Value* by = extent(Dim(1, stride.symbol));
      term = from_value({b_.CreateMul(at.v, at.v->getType()->isVectorTy() ? splat(by) : by), at.level});
    }
    if (sum.id == 0) {
      sum = term;
      continue;
    }
    const int level = std::max(sum.level, term.level);
    if (sum.lanes == nullptr && term.lanes == nullptr) {
      stand_at(level);
      sum = {b_.CreateAdd(sum.base, term.base), sum.step + term.step, nullptr, level, next_id_++};
    } else {
      const V a = positions(sum);
      const V c = positions(term);
      stand_at(level);
      sum = from_value({b_.CreateAdd(splat(a.v), splat(c.v)), level});
    }
  }
  return sum;
}

Position KernelBuilder::unflatten(const Shape& shape, const Position& p) {
  if (!p.flat) return p;
  const V at = positions(p.dims[0]);
  Position out;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (shape[d].is(1)) {
      out.dims.push_back(constant_index(0));
      continue;
    }
    stand_at(at.level);
    const auto wide = [&](Value* v) { return at.v->getType()->isVectorTy() ? splat(v) : v; };
    std::vector<Dim> rest(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, shape.end());
    Value* stride = wide(extent(Shape(std::move(rest)).count()));
    Value* q = b_.CreateUDiv(at.v, stride);
    bool outermost = true;
    for (std::size_t o = 0; o < d; ++o) outermost = outermost && shape[o].is(1);
    if (!outermost) q = b_.CreateURem(q, wide(extent(shape[d])));
    out.dims.push_back(from_value({q, at.level}));
  }
  return out;
}

}  // namespace tightloop::backends::cpu
