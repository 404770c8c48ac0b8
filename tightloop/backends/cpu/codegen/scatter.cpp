// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/codegen/kernels.h>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;

/// scatter_add: index [I...], updates [I..., W...] → [rows, W...]. Parts own columns of the flattened W, so
/// that the order of additions is that of the index in every split.
class ScatterEmitter {
 public:
  explicit ScatterEmitter(KernelBuilder& k) : k_(k), node_(k.kernel().sources[0]) {
    const Shape& shape = node_->type.shape;
    width_ = Shape(std::vector<Dim>(shape.begin() + 1, shape.end())).count();
    k.set_lanes(k.target().lanes(static_cast<int>(std::max<std::size_t>(4, size_of(shape_dtype())))));
    if (width_.is(1)) k.set_lanes(1);
  }

  void run() {
    const auto [begin, end] = k_.share(width_, k_.lanes());
    llvm::Value* rows = k_.extent(node_->type.shape[0]);
    llvm::Value* r = k_.begin_loop(k_.number(0), rows, k_.number(1));
    over_columns(begin, end, r, [&](const Index& at) {
      k_.stand_at(k_.level());
      k_.store(target(), flat_type(), Position{{at}, true}, {zero(), k_.level()});
    });
    k_.end_loop();
    add_rows(begin, end, rows);
  }

 private:
  DType shape_dtype() const { return node_->type.dtype; }
  TensorType flat_type() const { return {node_->type.dtype, node_->type.shape}; }
  int target() const { return k_.plan().stores.at(node_).front(); }
  llvm::Value* zero() { return VectorBuilder::value(k_.scalar().constant(node_->type.dtype, 0)); }

  /// body(row-major position in the result) for the columns [begin, end) of row `row`.
  template <class Body>
  void over_columns(llvm::Value* begin, llvm::Value* end, llvm::Value* row, Body body) {
    k_.vector_loop(begin, end, leaves_rest(width_, k_.lanes()), [&](llvm::Value* c) {
      llvm::Value* at = k_.ir().CreateAdd(k_.ir().CreateMul(row, k_.extent(width_)), c);
      body(k_.lane_index(at, k_.level()));
    });
  }

  void add_rows(llvm::Value* begin, llvm::Value* end, llvm::Value* rows) {
    const Node* index = node_->inputs[0].id();
    const Node* updates = node_->inputs[1].id();
    const Shape& places = index->type.shape;
    VectorBuilder& s = k_.scalar();
    auto& ir = k_.ir();
    llvm::Value* i = k_.begin_loop(k_.number(0), k_.extent(places.count()), k_.number(1));
    const Index which = k_.uniform_index(i, k_.level());
    const Emitted at = k_.emit(index, Position{{which}, true});
    k_.stand_at(k_.level());
    llvm::Value* row = VectorBuilder::value(s.convert(s.wrap(at.v, index->type.dtype), DType::i64));
    // A row outside is dropped: its column loop is empty.
    llvm::Value* there = ir.CreateICmpULT(row, rows);
    llvm::Value* bound = ir.CreateSelect(there, end, begin);
    k_.vector_loop(begin, bound, leaves_rest(width_, k_.lanes()), [&](llvm::Value* c) {
      llvm::Value* from = ir.CreateAdd(ir.CreateMul(i, k_.extent(width_)), c);
      const Emitted u = k_.emit(updates, Position{{k_.lane_index(from, k_.level())}, true});
      k_.stand_at(k_.level());
      const Index to = k_.lane_index(ir.CreateAdd(ir.CreateMul(row, k_.extent(width_)), c), k_.level());
      const Position p{{to}, true};
      const Emitted old = k_.load_fresh(target(), flat_type(), p);
      const DType d = node_->type.dtype;
      k_.store(target(), flat_type(), p,
               {VectorBuilder::value(s.add(s.wrap(old.v, d), s.wrap(u.v, d))), k_.level()});
    });
    k_.end_loop();
  }

  KernelBuilder& k_;
  const Node* node_;
  Dim width_;
};

}  // namespace

void emit_scatter(KernelBuilder& k) { ScatterEmitter(k).run(); }

}  // namespace tightloop::backends::cpu
