// SPDX-License-Identifier: Apache-2.0
// Values of nodes at positions: the inline part of KernelBuilder.
#include <tightloop/backends/cpu/codegen/kernel_builder.h>
#include <tightloop/backends/cpu/plan/assembly.h>
#include <tightloop/backends/cpu/runtime/context.h>
#include <tightloop/ops/index.h>

#include <algorithm>

namespace tightloop::backends::cpu {

using ir::Node;
using V = Emitted;

namespace {

std::vector<int> ids_of(const Position& p) {
  std::vector<int> ids;
  for (const Index& i : p.dims) ids.push_back(i.id);
  ids.push_back(p.flat ? -1 : -2);
  return ids;
}

bool has_role(const Node* n, const char* role) { return is_input(n) && ir::input_role(*n) == role; }

/// The input that `index` counts up from, when it is first + 0, 1, 2, …: rows of data walked in order.
const Node* first_of_rows(const Node* index) {
  if (index->op != &ops::add_op() || index->inputs[0].node().op != &ops::iota_op()) return nullptr;
  const Node* first = index->inputs[1].id();
  if (first->op == &ops::broadcast_op()) first = first->inputs[0].id();
  return has_role(first, "first") ? first : nullptr;
}

/// A random op's shape, or that of the draw that it is a window of.
Shape drawn_shape(const Node* n) {
  const ir::Ints within = n->attrs.get<ir::Ints>("within", {});
  auto dims = n->type.shape.dims();
  std::copy(within.begin(), within.end(), dims.end() - static_cast<std::ptrdiff_t>(within.size()));
  return Shape(std::move(dims));
}

}  // namespace

V KernelBuilder::emit(const Node* n, const Position& p) {
  if (const auto at = current_.find(n); at != current_.end()) return at->second;
  const Key key{n, ids_of(p)};
  if (const auto at = known_.find(key); at != known_.end()) return at->second;
  const bool in_memory = is_input(n) || (plan_.schedule.is_root(n) &&
                                         plan_.schedule.home.at(n) !=
                                             static_cast<int>(&kernel_ - plan_.schedule.kernels.data()));
  const V v = in_memory ? load(n, p) : compute(n, p);
  known_[key] = v;
  return v;
}

V KernelBuilder::compute(const Node* n, const Position& p) {
  using namespace ops;
  const ir::OpDef* op = n->op;
  const auto input = [&](std::size_t i) { return n->inputs[i].id(); };
  if (op == &constant_op()) {
    const auto& value = *n->attrs.find("value");
    const ir::Scalar s = std::holds_alternative<double>(value)
                             ? s_.constant(n->type.dtype, std::get<double>(value))
                             : s_.constant_int(n->type.dtype, std::get<std::int64_t>(value));
    return {VectorBuilder::value(s), 0};
  }
  if (op == &size_op()) {
    const Symbol symbol = n->attrs.at<std::string>("symbol") == "B" ? Symbol::batch : Symbol::rows;
    llvm::Value* v = extent(Dim(n->attrs.at<std::int64_t>("factor"), symbol));
    stand_at(0);
    return {VectorBuilder::value(s_.convert(s_.wrap(v, DType::i64), n->type.dtype)), 0};
  }
  if (op == &iota_op()) {
    const Position q = unflatten(n->type.shape, p);
    const V at = positions(q.dims[static_cast<std::size_t>(n->attrs.at<std::int64_t>("axis"))]);
    stand_at(at.level);
    return {VectorBuilder::value(s_.convert(s_.wrap(at.v, DType::i64), n->type.dtype)), at.level};
  }
  if (op->kind == ir::OpKind::elementwise) return elementwise(n, p);
  if (op->kind == ir::OpKind::random) return random(n, p);
  if (op == &reshape_op()) return reshape(n, p);
  if (op == &gather_op() || op == &gather_window_op()) return gather(n, p);
  if (op == &pad_op()) return pad(n, p);
  if (op == &concat_op()) return concat(n, p);
  if (op == &broadcast_op() && n->inputs[0].shape().count().is(1))
    return emit(input(0), Position{std::vector<Index>(n->inputs[0].rank(), constant_index(0)), false});
  if (op == &broadcast_op() && p.flat && n->type.shape.count() == n->inputs[0].shape().count())
    return emit(input(0), p);
  const Position at = unflatten(n->type.shape, p);
  Position q;
  if (op == &broadcast_op()) {
    const auto& dims = n->attrs.at<ir::Ints>("dims");
    for (std::size_t i = 0; i < dims.size(); ++i)
      q.dims.push_back(n->inputs[0].dim(i).is(1) ? constant_index(0)
                                                 : at.dims[static_cast<std::size_t>(dims[i])]);
    return emit(input(0), q);
  }
  if (op == &transpose_op()) {
    const auto& perm = n->attrs.at<ir::Ints>("perm");
    q.dims.resize(perm.size());
    for (std::size_t i = 0; i < perm.size(); ++i) q.dims[static_cast<std::size_t>(perm[i])] = at.dims[i];
    return emit(input(0), q);
  }
  if (op == &slice_op()) {
    const auto& start = n->attrs.at<ir::Ints>("start");
    const auto& step = n->attrs.at<ir::Ints>("step");
    for (std::size_t d = 0; d < start.size(); ++d) {
      const Index scaled = scale(at.dims[d], step[d]);
      q.dims.push_back(from_start(scaled, n, d, start[d]));
    }
    return emit(input(0), q);
  }
  throw InternalError("code generator: op '" + std::string(op->name) + "' cannot stand inside a loop");
}

V KernelBuilder::elementwise(const Node* n, const Position& p) {
  std::vector<V> inputs;
  int level = 0;
  for (const Tensor& t : n->inputs) {
    inputs.push_back(emit(t.id(), p));
    level = std::max(level, inputs.back().level);
  }
  if (n->op == &ops::stop_gradient_op() || is_piece(n)) return inputs[0];
  if (n->op->body == nullptr)
    throw InternalError("op '" + std::string(n->op->name) + "' has no body to compile");
  std::vector<ir::Scalar> scalars;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    scalars.push_back(s_.wrap(inputs[i].v, n->inputs[i].dtype()));
  stand_at(level);
  return {VectorBuilder::value(n->op->body(s_, scalars, *n)), level};
}

Position KernelBuilder::in_draw(const Node* n, const Position& p) {
  const ir::Ints start = n->attrs.get<ir::Ints>("start", {});
  if (start.empty()) return p;
  Position q = unflatten(n->type.shape, p);
  for (std::size_t i = 0; i < start.size(); ++i) {
    Index& index = q.dims[q.dims.size() - start.size() + i];
    index = add(index, start[i]);
  }
  return q;
}

V KernelBuilder::random(const Node* n, const Position& p) {
  const Position scalar;
  const V seed = emit(n->inputs[0].id(), scalar);
  const V step = emit(n->inputs[1].id(), scalar);
  const V at = positions(linear(drawn_shape(n), in_draw(n, p)));
  const int level = std::max({seed.level, step.level, at.level});
  if (n->op->body == nullptr)
    throw InternalError("op '" + std::string(n->op->name) + "' has no body to compile");
  stand_at(level);
  s_.set_element_index(at.v);
  const std::vector<ir::Scalar> inputs{s_.wrap(seed.v, DType::i64), s_.wrap(step.v, DType::i64)};
  return {VectorBuilder::value(n->op->body(s_, inputs, *n)), level};
}

V KernelBuilder::reshape(const Node* n, const Position& p) {
  const Node* from = n->inputs[0].id();
  if (p.flat) return emit(from, p);
  if (is_unit_reshape(n)) {
    Position q;
    std::vector<Index> kept;
    for (std::size_t d = 0; d < n->type.shape.rank(); ++d)
      if (!n->type.shape[d].is(1)) kept.push_back(p.dims[d]);
    std::size_t next = 0;
    for (const Dim& d : from->type.shape) q.dims.push_back(d.is(1) ? constant_index(0) : kept[next++]);
    return emit(from, q);
  }
  return emit(from, Position{{linear(n->type.shape, p)}, true});
}

/// Where in its table `gather` reads for element q of its index.
Index KernelBuilder::row_of(const Node* gather, const Position& q) {
  const Node* source = gather->inputs[1].id();
  if (const Node* first = first_of_rows(source)) return add(q.dims[0], emit(first, {}).v);
  const V index = emit(source, q);
  stand_at(index.level);
  const ir::Scalar wide = s_.convert(s_.wrap(index.v, source->type.dtype), DType::i64);
  const Index row = from_value({VectorBuilder::value(wide), index.level});
  // The data set's own row numbers come from the sampler; any other index is clamped.
  if (has_role(source, "rows")) return row;
  stand_at(0);
  const std::int64_t rows = gather->attrs.get<std::int64_t>("length", 1);
  return clamp(row, b_.CreateSub(extent(gather->inputs[0].dim(0)), number(rows)));
}

V KernelBuilder::gather(const Node* n, const Position& p) {
  const Position at = unflatten(n->type.shape, p);
  const Node* table = n->inputs[0].id();
  const std::size_t rank = n->inputs[1].rank();
  Position q;
  q.dims.assign(at.dims.begin(), at.dims.begin() + static_cast<std::ptrdiff_t>(rank));
  const Key key{n, ids_of(q)};
  auto row = rows_.find(key);
  if (row == rows_.end()) row = rows_.emplace(key, row_of(n, q)).first;
  Position t;
  t.dims.push_back(row->second);
  t.dims.insert(t.dims.end(), at.dims.begin() + static_cast<std::ptrdiff_t>(rank), at.dims.end());
  if (n->op == &ops::gather_window_op()) {
    // Both count rows of the table, so their strides are 1.
    t.dims[0] = linear(Shape{1, 1}, Position{{t.dims[0], t.dims[1]}, false});
    t.dims.erase(t.dims.begin() + 1);
  }
  return emit(table, t);
}

V KernelBuilder::pad(const Node* n, const Position& p) {
  const Position at = unflatten(n->type.shape, p);
  const auto& low = n->attrs.at<ir::Ints>("low");
  const auto& high = n->attrs.at<ir::Ints>("high");
  Position q;
  V inside{b_.getTrue(), 0};
  for (std::size_t d = 0; d < low.size(); ++d) {
    if (low[d] == 0 && high[d] == 0) {
      q.dims.push_back(at.dims[d]);
      continue;
    }
    const Index moved = add(at.dims[d], -low[d]);
    const V where = positions(moved);
    stand_at(where.level);
    llvm::Value* size = extent(n->inputs[0].dim(d));
    llvm::Value* ok = b_.CreateICmpULT(where.v, where.v->getType()->isVectorTy() ? splat(size) : size);
    const int level = std::max(inside.level, where.level);
    stand_at(level);
    inside = {
        VectorBuilder::value(s_.bit_and(s_.wrap(inside.v, DType::boolean), s_.wrap(ok, DType::boolean))),
        level};
    llvm::Value* last = b_.CreateSub(size, number(1));
    q.dims.push_back(clamp(moved, last));
  }
  const DType dtype = n->type.dtype;
  const bool empty = n->inputs[0].shape().count().is(0);
  const ir::Scalar outside = s_.constant(dtype, n->attrs.at<double>("value"));
  if (empty) return {VectorBuilder::value(outside), 0};
  const V x = emit(n->inputs[0].id(), q);
  const int level = std::max(x.level, inside.level);
  stand_at(level);
  return {VectorBuilder::value(s_.select(s_.wrap(inside.v, DType::boolean), s_.wrap(x.v, dtype), outside)),
          level};
}

V KernelBuilder::concat(const Node* n, const Position& p) {
  const Position at = unflatten(n->type.shape, p);
  const auto axis = static_cast<std::size_t>(n->attrs.at<std::int64_t>("axis"));
  const V where = positions(at.dims[axis]);
  V out{nullptr, 0};
  std::int64_t start = n->type.shape[axis].factor;
  for (std::size_t i = n->inputs.size(); i-- > 0;) {
    const std::int64_t size = n->inputs[i].dim(axis).factor;
    start -= size;
    if (size == 0) continue;
    Position q = at;
    q.dims[axis] = clamp(add(at.dims[axis], -start), number(size - 1));
    const V part = emit(n->inputs[i].id(), q);
    if (out.v == nullptr) {
      out = part;
      continue;
    }
    const int level = std::max({part.level, out.level, where.level});
    stand_at(level);
    const ir::Scalar here =
        s_.compare(ir::Compare::lt, s_.wrap(where.v, DType::i64), s_.constant_int(DType::i64, start + size));
    out = {
        VectorBuilder::value(s_.select(here, s_.wrap(part.v, n->type.dtype), s_.wrap(out.v, n->type.dtype))),
        level};
  }
  if (out.v == nullptr) return {VectorBuilder::value(s_.constant(n->type.dtype, 0)), 0};
  return out;
}

// --- memory

V KernelBuilder::loaded(llvm::Value* raw, DType dtype, int level) {
  return {s_.from_memory(raw, dtype), level};
}

V KernelBuilder::load(const Node* stored, const Position& p) {
  const std::string role = is_input(stored) ? ir::input_role(*stored) : "";
  if (role == "step") return {context_member(offsetof(StepContext, step)), 0};
  if (role == "seed") return {context_member(offsetof(StepContext, seed)), 0};
  if (role == "epoch") return {context_member(offsetof(StepContext, epoch)), 0};
  if (role == "first") return {context_member(offsetof(StepContext, first)), 0};
  const Index offset = linear(stored->type.shape, p);
  return load_at(buffer(plan_.buffer_of(stored)), stored->type.dtype, offset);
}

V KernelBuilder::load_at(llvm::Value* pointer, DType dtype, const Index& offset) {
  stand_at(offset.level);
  auto& c = b_.getContext();
  llvm::Type* element = memory_type(c, dtype);
  const auto count = static_cast<unsigned>(lanes_);
  const llvm::Align align(size_of(dtype));
  if (offset.uniform())
    return loaded(b_.CreateAlignedLoad(element, b_.CreateGEP(element, pointer, offset.base), align), dtype,
                  offset.level);
  auto* vector = llvm::FixedVectorType::get(element, count);
  llvm::Value* raw = nullptr;
  if (offset.lanes == nullptr && offset.step == 1) {
    llvm::Value* at = b_.CreateGEP(element, pointer, offset.base);
    raw = mask_ == nullptr
              ? static_cast<llvm::Value*>(b_.CreateAlignedLoad(vector, at, align))
              : b_.CreateMaskedLoad(vector, at, align, mask_, llvm::Constant::getNullValue(vector));
  } else {
    const V at = positions(offset);
    stand_at(offset.level);
    llvm::Value* pointers = b_.CreateGEP(element, pointer, at.v);
    llvm::Value* mask =
        mask_ == nullptr ? llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt1Ty(), count))
                         : mask_;
    raw = b_.CreateMaskedGather(vector, pointers, align, mask, llvm::Constant::getNullValue(vector));
  }
  return loaded(raw, dtype, offset.level);
}

V KernelBuilder::load_fresh(int id, const TensorType& type, const Position& p) {
  return load_at(buffer(id), type.dtype, linear(type.shape, p));
}

void KernelBuilder::store(int id, const TensorType& type, const Position& p, V v) {
  const Index offset = linear(type.shape, p);
  llvm::Value* base = buffer(id);
  stand_at(level());
  auto& c = b_.getContext();
  llvm::Type* element = memory_type(c, type.dtype);
  llvm::Value* value = s_.to_memory(v.v, type.dtype);
  const llvm::Align align(size_of(type.dtype));
  if (offset.uniform()) {
    require(!value->getType()->isVectorTy(), "store: a vector at one position");
    b_.CreateAlignedStore(value, b_.CreateGEP(element, base, offset.base), align);
    return;
  }
  value = splat(value);
  if (offset.lanes != nullptr || offset.step != 1) {
    const V at = positions(offset);
    stand_at(level());
    auto* all = llvm::FixedVectorType::get(b_.getInt1Ty(), static_cast<unsigned>(lanes_));
    llvm::Value* mask = mask_ == nullptr ? llvm::Constant::getAllOnesValue(all) : mask_;
    b_.CreateMaskedScatter(value, b_.CreateGEP(element, base, at.v), align, mask);
    return;
  }
  llvm::Value* at = b_.CreateGEP(element, base, offset.base);
  if (mask_ == nullptr)
    b_.CreateAlignedStore(value, at, align);
  else
    b_.CreateMaskedStore(value, at, align, mask_);
}

Index KernelBuilder::from_start(const Index& i, const Node* n, std::size_t axis, std::int64_t start) {
  const auto term = terms_.starts.find({n, axis});
  return term == terms_.starts.end() ? add(i, start) : add(i, told(term->second));
}

void KernelBuilder::store_piece(const Node* piece, const Position& domain, const V& v) {
  const auto& [assembly, start] = plan_.places.at(piece);
  const std::size_t axis = joined_axis(assembly);
  Position p = aligned(piece->type.shape, domain);
  p.dims[axis] = from_start(p.dims[axis], piece, axis, start);
  for (const int id : plan_.stores.at(assembly)) store(id, assembly->type, p, v);
}

void KernelBuilder::finish_roots(const Position& domain) {
  std::vector<std::pair<const Node*, V>> values;
  for (const Node* r : kernel_.roots) {
    if (!current_.contains(r)) define(r, compute(r, aligned(r->type.shape, domain)));
    values.emplace_back(r, current_.at(r));
  }
  for (const auto& [r, v] : values) {
    if (is_piece(r)) store_piece(r, domain, v);
    const auto at = plan_.stores.find(r);
    if (at == plan_.stores.end()) continue;
    for (const int id : at->second) store(id, r->type, aligned(r->type.shape, domain), v);
  }
  undefine_all();
}

}  // namespace tightloop::backends::cpu
