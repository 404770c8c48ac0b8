// SPDX-License-Identifier: Apache-2.0
#include <tightloop/backends/cpu/codegen/reducer.h>

namespace tightloop::backends::cpu {
namespace {

using ir::Node;
using ir::Scalar;
using Accumulators = std::vector<llvm::AllocaInst*>;

class ReduceEmitter {
 public:
  explicit ReduceEmitter(KernelBuilder& k) : k_(k), shapes_(shapes_of(k.kernel().sources[0])) {
    for (const Node* n : k.kernel().sources) reducers_.emplace_back(k, n);
    bool wide = true;
    for (Reducer& r : reducers_) wide = wide && size_of(r.dtype()) == 8;
    k.set_lanes(k.target().lanes(wide ? 8 : 4));
  }

  void run() {
    const bool arg = reducers_[0].is_arg();
    const bool inner =
        !shapes_.reduced.empty() && (shapes_.kept.empty() || shapes_.reduced.back() > shapes_.kept.back());
    if (shapes_.kept.empty() && (arg || shapes_.reduced.empty())) k_.set_lanes(1);
    if (inner && !arg && shapes_.reduced.size() == 1 && !shapes_.kept.empty() && blocks_of_rows_pay()) {
      rows_in_blocks();
    } else if (shapes_.kept.empty() || (inner && !arg && fills_vectors(dim(shapes_.reduced.back())))) {
      to_scalars();
    } else {
      along_kept();
    }
  }

 private:
  static constexpr int kColumnVectors = 4;

  Dim dim(std::size_t d) const { return shapes_.input[d]; }

  /// A vector of neighbours, and which of its lanes there are (null: all).
  struct Column {
    Index index;
    llvm::Value* mask = nullptr;
  };

  /// The vectors of a static dim, one after the other.
  std::vector<Column> columns_of(const Dim& width) {
    const int lanes = k_.lanes();
    std::vector<Column> columns;
    for (std::int64_t first = 0; first < width.factor; first += lanes) {
      const bool cut = first + lanes > width.factor;
      columns.push_back({k_.lane_index(k_.number(first), k_.level()),
                         cut ? first_lanes(k_.ir(), k_.number(width.factor - first), lanes) : nullptr});
    }
    return columns;
  }

  Position position(const std::vector<Index>& kept, const std::vector<Index>& reduced) {
    Position p;
    p.dims.assign(shapes_.input.rank(), k_.constant_index(0));
    for (std::size_t i = 0; i < kept.size(); ++i) p.dims[shapes_.kept[i]] = kept[i];
    for (std::size_t i = 0; i < reduced.size(); ++i) p.dims[shapes_.reduced[i]] = reduced[i];
    return p;
  }

  /// All reductions are done at this place of the kept dims: what reads them follows.
  void finish(const std::vector<llvm::Value*>& totals, const std::vector<Index>& kept) {
    Position p{kept, false};
    const bool grouped = is_group_sum(reducers_[0].node());
    if (grouped) p = k_.in_group(p);
    for (std::size_t r = 0; r < reducers_.size(); ++r) {
      llvm::Value* v = grouped ? k_.add_to_group(reducers_[r].node(), p, totals[r]) : totals[r];
      k_.define(reducers_[r].node(), {v, k_.level()});
    }
    k_.finish_roots(p);
  }

  llvm::AllocaInst* accumulator(llvm::Value* initial) {
    initial = k_.splat(initial);
    llvm::AllocaInst* slot = k_.slot(initial->getType());
    k_.stand_at(k_.level());
    k_.ir().CreateStore(initial, slot);
    return slot;
  }

  Index loop_over(const Dim& d) {
    const auto [begin, end] = k_.whole(d);
    return k_.loop_index(begin, end);
  }

  /// begin and as many whole steps as fit before end.
  llvm::Value* multiple_between(llvm::Value* begin, llvm::Value* end, int step) {
    return k_.ir().CreateAdd(begin, k_.ir().CreateAnd(k_.ir().CreateSub(end, begin), k_.number(-step)));
  }

  llvm::Value* read(llvm::AllocaInst* slot) { return k_.ir().CreateLoad(slot->getAllocatedType(), slot); }

  /// Opens the loops over the outer kept dims (all but the last); `share` splits the first.
  std::vector<Index> open_outer(std::size_t count, llvm::Value* begin, llvm::Value* end) {
    std::vector<Index> kept;
    for (std::size_t i = 0; i < count; ++i) {
      llvm::Value* at = i == 0 ? k_.begin_loop(begin, end, k_.number(1))
                               : k_.begin_loop(k_.number(0), k_.extent(dim(shapes_.kept[i])), k_.number(1));
      kept.push_back(k_.uniform_index(at, k_.level()));
    }
    return kept;
  }

  // --- vectors along the last reduced dim, the innermost in memory: one number at each place of the kept
  // ones
  bool fills_vectors(const Dim& d) const {
    return k_.lanes() > 1 && (!d.is_static() || d.factor >= k_.lanes());
  }

  void to_scalars() {
    const int lanes = k_.lanes();
    std::pair<llvm::Value*, llvm::Value*> first{nullptr, nullptr};
    if (!shapes_.kept.empty()) first = k_.share(dim(shapes_.kept[0]), 1);
    const std::vector<Index> kept = open_outer(shapes_.kept.size(), first.first, first.second);
    const auto totals = lanes == 1 ? totals_at(kept) : vector_totals(kept);
    k_.set_lanes(1);
    finish(totals, kept);
    k_.set_lanes(lanes);
    for (std::size_t d = 0; d < shapes_.kept.size(); ++d) k_.end_loop();
  }

  /// Four vectors of sums at a time, added up in the end.
  std::vector<llvm::Value*> vector_totals(const std::vector<Index>& kept) {
    constexpr int kUnroll = 4;
    std::vector<Accumulators> sums(reducers_.size());
    for (std::size_t r = 0; r < reducers_.size(); ++r)
      for (int u = 0; u < kUnroll; ++u) sums[r].push_back(accumulator(reducers_[r].identity()));
    const Dim inner = dim(shapes_.reduced.back());
    const auto [inner_begin, inner_end] = k_.whole(inner);
    const int step = k_.lanes() * kUnroll;
    scalar_sums_.clear();
    if (!k_.target().masks && leaves_rest(inner, step)) open_scalar_sums();
    const std::size_t depth = shapes_.reduced.size() - 1;
    std::vector<Index> outer;
    for (std::size_t i = 0; i < depth; ++i) outer.push_back(loop_over(dim(shapes_.reduced[i])));
    k_.stand_at(k_.level());
    llvm::Value* split = multiple_between(inner_begin, inner_end, step);
    const auto add_at = [&](llvm::Value* i, int u) {
      auto at = outer;
      at.push_back(k_.lane_index(i, k_.level()));
      const Position p = position(kept, at);
      for (std::size_t r = 0; r < reducers_.size(); ++r) {
        auto* slot = sums[r][static_cast<std::size_t>(u)];
        k_.stand_at(k_.level());
        llvm::Value* now = read(slot);
        llvm::Value* next = reducers_[r].accumulate(now, p);
        k_.ir().CreateStore(next, slot);
      }
    };
    llvm::Value* i = k_.begin_loop(inner_begin, split, k_.number(step));
    for (int u = 0; u < kUnroll; ++u) {
      k_.stand_at(k_.level());
      add_at(u == 0 ? i : k_.ir().CreateAdd(i, k_.number(std::int64_t{u} * k_.lanes())), u);
    }
    k_.end_loop();
    if (leaves_rest(inner, step))
      rest_to_scalar(split, inner_end, leaves_rest(inner, k_.lanes()), add_at, sums);
    for (std::size_t d = 0; d < depth; ++d) k_.end_loop();
    k_.stand_at(k_.level());
    std::vector<llvm::Value*> totals;
    for (std::size_t r = 0; r < reducers_.size(); ++r) {
      Reducer& red = reducers_[r];
      const auto combine = [&](llvm::Value* a, llvm::Value* b) { return red.combine(a, b); };
      llvm::Value* low = red.combine(read(sums[r][0]), read(sums[r][1]));
      llvm::Value* high = red.combine(read(sums[r][2]), read(sums[r][3]));
      llvm::Value* folded = fold_lanes(k_, red.combine(low, high), combine);
      if (!scalar_sums_.empty()) folded = red.combine(folded, read(scalar_sums_[r]));
      totals.push_back(folded);
    }
    return totals;
  }

  /// Where there are no masks, what does not fill a vector is summed one by one.
  void open_scalar_sums() {
    const int lanes = k_.lanes();
    k_.set_lanes(1);
    for (Reducer& r : reducers_) scalar_sums_.push_back(accumulator(r.identity()));
    k_.set_lanes(lanes);
  }

  template <class AddAt>
  void rest_to_scalar(llvm::Value* split, llvm::Value* end, bool cut_vector, AddAt add_at,
                      std::vector<Accumulators>& sums) {
    if (k_.target().masks) {
      k_.vector_loop(split, end, cut_vector, [&](llvm::Value* i) { add_at(i, 0); });
      return;
    }
    const int lanes = k_.lanes();
    k_.stand_at(k_.level());
    llvm::Value* whole = multiple_between(split, end, lanes);
    add_at(k_.begin_loop(split, whole, k_.number(lanes)), 0);
    k_.end_loop();
    if (!cut_vector) return;
    k_.set_lanes(1);
    std::vector<Accumulators> vectors;
    for (std::size_t r = 0; r < reducers_.size(); ++r) vectors.push_back({scalar_sums_[r]});
    std::swap(sums, vectors);
    k_.stand_at(k_.level());
    llvm::Value* i = k_.begin_loop(whole, end, k_.number(1));
    add_at(i, 0);
    k_.end_loop();
    std::swap(sums, vectors);
    k_.set_lanes(lanes);
  }

  // --- the innermost dim reduced: `lanes` rows at a time, their vectors of partial sums transposed and
  // added, so that the results come out as one vector
  bool blocks_of_rows_pay() const {
    const int lanes = k_.lanes();
    const Dim rows = dim(shapes_.kept.back());
    const bool many_rows = !rows.is_static() || rows.factor >= lanes / 2;
    const bool whole_vectors = k_.target().masks || !leaves_rest(dim(shapes_.reduced[0]), lanes);
    return lanes > 1 && whole_vectors && many_rows &&
           reducers_.size() * static_cast<std::size_t>(lanes) <= 32;
  }

  void rows_in_blocks() {
    const std::size_t last = shapes_.kept.size() - 1;
    const Dim rows = dim(shapes_.kept[last]);
    const int lanes = k_.lanes();
    const auto [begin, end] = k_.share(dim(shapes_.kept[0]), last == 0 ? lanes : 1);
    std::vector<Index> outer = open_outer(last, begin, end);
    llvm::Value* first = last == 0 ? begin : k_.number(0);
    llvm::Value* bound = last == 0 ? end : k_.extent(rows);
    k_.vector_loop(first, bound, leaves_rest(rows, lanes), [&](llvm::Value* row) {
      llvm::Value* mask = k_.mask();
      k_.set_mask(nullptr);
      const auto totals = block_of_rows(outer, row, mask == nullptr ? nullptr : bound);
      k_.set_mask(mask);
      std::vector<Index> kept = outer;
      kept.push_back(k_.lane_index(row, k_.level()));
      finish(totals, kept);
    });
    for (std::size_t d = 0; d < last; ++d) k_.end_loop();
  }

  /// `bound`: rows from there on repeat the last one, null when all are there.
  std::vector<llvm::Value*> block_of_rows(const std::vector<Index>& outer, llvm::Value* first,
                                          llvm::Value* bound) {
    const auto lanes = static_cast<std::size_t>(k_.lanes());
    std::vector<std::vector<Index>> kept;
    for (std::size_t l = 0; l < lanes; ++l) {
      k_.stand_at(k_.level());
      llvm::Value* row = l == 0 ? first : k_.ir().CreateAdd(first, k_.number(static_cast<std::int64_t>(l)));
      if (bound != nullptr)
        row =
            k_.ir().CreateBinaryIntrinsic(llvm::Intrinsic::smin, row, k_.ir().CreateSub(bound, k_.number(1)));
      kept.push_back(outer);
      kept.back().push_back(k_.uniform_index(row, k_.level()));
    }
    std::vector<Accumulators> sums(reducers_.size());
    for (std::size_t r = 0; r < reducers_.size(); ++r)
      for (std::size_t l = 0; l < lanes; ++l) sums[r].push_back(accumulator(reducers_[r].identity()));
    const Dim inner = dim(shapes_.reduced[0]);
    const auto add_vectors = [&](const Index& at) {
      for (std::size_t l = 0; l < lanes; ++l) {
        const Position p = position(kept[l], {at});
        for (std::size_t r = 0; r < reducers_.size(); ++r) {
          k_.stand_at(k_.level());
          llvm::Value* now = read(sums[r][l]);
          llvm::Value* next = reducers_[r].accumulate(now, p);
          k_.ir().CreateStore(next, sums[r][l]);
        }
      }
    };
    if (inner.is_static() && inner.factor <= std::int64_t{kColumnVectors} * k_.lanes()) {
      for (const Column& c : columns_of(inner)) {
        k_.set_mask(c.mask);
        add_vectors(c.index);
      }
      k_.set_mask(nullptr);
    } else {
      k_.vector_loop(k_.number(0), k_.extent(inner), leaves_rest(inner, k_.lanes()),
                     [&](llvm::Value* j) { add_vectors(k_.lane_index(j, k_.level())); });
    }
    std::vector<llvm::Value*> totals;
    for (std::size_t r = 0; r < reducers_.size(); ++r) {
      std::vector<llvm::Value*> partial;
      for (llvm::AllocaInst* slot : sums[r]) partial.push_back(read(slot));
      totals.push_back(transpose_and_fold(reducers_[r], std::move(partial)));
    }
    return totals;
  }

  /// Vector l of `v` holds the partial results of row l; element l of the result is their total.
  /// Each round halves the vectors: of a pair (a, b), a's even runs and b's odd ones stay where they are, a
  /// blend, and are combined with their neighbours, a shuffle.
  llvm::Value* transpose_and_fold(Reducer& r, std::vector<llvm::Value*> v) {
    auto& b = k_.ir();
    const auto n = static_cast<int>(v.size());
    for (int block = 1; block < n; block *= 2) {
      std::vector<int> stay;
      std::vector<int> neighbours;
      for (int i = 0; i < n; ++i) {
        const bool even = i / block % 2 == 0;
        stay.push_back(even ? i : n + i);
        neighbours.push_back(even ? i + block : n + i - block);
      }
      std::vector<llvm::Value*> next;
      for (std::size_t p = 0; p + 1 < v.size(); p += 2)
        next.push_back(r.combine(b.CreateShuffleVector(v[p], v[p + 1], stay),
                                 b.CreateShuffleVector(v[p], v[p + 1], neighbours)));
      v = std::move(next);
    }
    return v[0];
  }

  // --- vectors along the last kept dim, whatever its stride; loops over the reduced dims inside
  void along_kept() {
    for (Reducer& r : reducers_) r.lanes_are_outputs();
    const std::size_t last = shapes_.kept.size() - 1;
    const Dim width = dim(shapes_.kept[last]);
    if (last == 0 && few_columns(width)) {
      all_columns(width);
      return;
    }
    const auto [begin, end] = k_.share(dim(shapes_.kept[0]), last == 0 ? k_.lanes() : 1);
    std::vector<Index> outer = open_outer(last, begin, end);
    llvm::Value* first = last == 0 ? begin : k_.number(0);
    llvm::Value* bound = last == 0 ? end : k_.extent(width);
    k_.vector_loop(first, bound, leaves_rest(width, k_.lanes()), [&](llvm::Value* column) {
      std::vector<Index> kept = outer;
      kept.push_back(k_.lane_index(column, k_.level()));
      finish(totals_at(kept), kept);
    });
    for (std::size_t d = 0; d < last; ++d) k_.end_loop();
  }

  /// So few that their vectors of sums fit in registers together: each row is then visited once.
  bool few_columns(const Dim& width) const {
    const int lanes = k_.lanes();
    return lanes > 1 && k_.target().masks && !reducers_[0].is_arg() && reducers_.size() == 1 &&
           width.is_static() && width.factor > lanes && width.factor <= std::int64_t{kColumnVectors} * lanes;
  }

  void all_columns(const Dim& width) {
    const auto [begin, end] = k_.share(Dim(1), 1);
    k_.begin_loop(begin, end, k_.number(1));  // one share: whoever has it does all
    const std::vector<Column> columns = columns_of(width);
    const std::vector<std::vector<llvm::Value*>> totals = sum_columns({}, columns);
    for (std::size_t v = 0; v < columns.size(); ++v) {
      k_.set_mask(columns[v].mask);
      finish(totals[v], {columns[v].index});
      k_.set_mask(nullptr);
    }
    k_.end_loop();
  }

  /// Loops over all reduced dims at one (vector) position of the kept ones.
  std::vector<llvm::Value*> totals_at(const std::vector<Index>& kept) {
    if (reducers_[0].is_arg()) return {search(kept)};
    std::vector<Index> outer = kept;
    std::vector<Column> columns(1);
    if (!kept.empty()) {
      outer.pop_back();
      columns[0] = {kept.back(), k_.mask()};
    }
    return sum_columns(outer, columns, !kept.empty())[0];
  }

  /// The reductions of each column: totals[column][reduction].
  std::vector<std::vector<llvm::Value*>> sum_columns(const std::vector<Index>& outer,
                                                     const std::vector<Column>& columns,
                                                     bool has_column = true) {
    llvm::Value* mask_before = k_.mask();
    const std::size_t depth = shapes_.reduced.size();
    // Several rows at a time along the innermost reduced dim hide the latency of an addition.
    const int unroll = depth == 0 ? 1 : 4;
    std::vector<std::vector<Accumulators>> sums(columns.size(), std::vector<Accumulators>(reducers_.size()));
    for (auto& column : sums)
      for (std::size_t r = 0; r < reducers_.size(); ++r)
        for (int u = 0; u < unroll; ++u) column[r].push_back(accumulator(reducers_[r].identity()));
    const auto add_at = [&](const std::vector<Index>& at, int u) {
      for (std::size_t c = 0; c < columns.size(); ++c) {
        std::vector<Index> kept = outer;
        if (has_column) kept.push_back(columns[c].index);
        const Position p = position(kept, at);
        k_.set_mask(columns[c].mask);
        for (std::size_t r = 0; r < reducers_.size(); ++r) {
          auto* slot = sums[c][r][static_cast<std::size_t>(u)];
          k_.stand_at(k_.level());
          llvm::Value* now = read(slot);
          k_.ir().CreateStore(reducers_[r].accumulate(now, p), slot);
        }
      }
      k_.set_mask(mask_before);
    };
    std::vector<Index> reduced;
    for (std::size_t i = 0; i + 1 < depth; ++i) reduced.push_back(loop_over(dim(shapes_.reduced[i])));
    if (depth == 0)
      add_at({}, 0);
    else
      over_rows(dim(shapes_.reduced.back()), unroll, reduced, add_at);
    for (std::size_t d = 0; d + 1 < depth; ++d) k_.end_loop();
    std::vector<std::vector<llvm::Value*>> totals(columns.size());
    for (std::size_t c = 0; c < columns.size(); ++c)
      for (std::size_t r = 0; r < reducers_.size(); ++r) {
        llvm::Value* total = read(sums[c][r][0]);
        for (int u = 1; u < unroll; ++u)
          total = reducers_[r].combine(total, read(sums[c][r][static_cast<std::size_t>(u)]));
        totals[c].push_back(total);
      }
    return totals;
  }

  template <class AddAt>
  void over_rows(const Dim& rows, int unroll, const std::vector<Index>& reduced, AddAt add_at) {
    const auto [begin, end] = k_.whole(rows);
    k_.stand_at(k_.level());
    llvm::Value* split = multiple_between(begin, end, unroll);
    llvm::Value* i = k_.begin_loop(begin, split, k_.number(unroll));
    for (int u = 0; u < unroll; ++u) {
      auto at = reduced;
      k_.stand_at(k_.level());
      llvm::Value* row = u == 0 ? i : k_.ir().CreateAdd(i, k_.number(u));
      at.push_back(k_.uniform_index(row, k_.level()));
      add_at(at, u);
    }
    k_.end_loop();
    if (!leaves_rest(rows, unroll)) return;
    auto at = reduced;
    at.push_back(k_.loop_index(split, end));
    add_at(at, 0);
    k_.end_loop();
  }

  /// argmax and argmin: the first best element; the first NaN, if any.
  llvm::Value* search(const std::vector<Index>& kept) {
    Reducer& r = reducers_[0];
    VectorBuilder& s = k_.scalar();
    const DType d = r.dtype();
    const Dim n = shapes_.reduced.empty() ? Dim(1) : dim(shapes_.reduced[0]);
    const auto at = [&](llvm::Value* i) {
      std::vector<Index> reduced;
      if (!shapes_.reduced.empty()) reduced.push_back(k_.uniform_index(i, k_.level()));
      const Emitted e = k_.emit(r.node()->inputs[0].id(), position(kept, reduced));
      k_.stand_at(k_.level());
      return s.wrap(k_.splat(e.v), d);
    };
    llvm::AllocaInst* best = accumulator(VectorBuilder::value(at(k_.number(0))));
    llvm::AllocaInst* where = accumulator(k_.number(0));
    llvm::Value* i = k_.begin_loop(k_.number(1), k_.extent(n), k_.number(1));
    const Scalar x = at(i);
    const Scalar now = s.wrap(read(best), d);
    const bool largest = r.node()->op == &ops::argmax_op();
    Scalar better = s.compare(largest ? ir::Compare::gt : ir::Compare::lt, x, now);
    if (is_floating(d)) {
      const Scalar nan = s.bit_and(s.compare(ir::Compare::ne, x, x), s.compare(ir::Compare::eq, now, now));
      better = s.bit_or(better, nan);
    }
    k_.ir().CreateStore(VectorBuilder::value(s.select(better, x, now)), best);
    const Scalar index = s.wrap(k_.splat(i), DType::i64);
    k_.ir().CreateStore(VectorBuilder::value(s.select(better, index, s.wrap(read(where), DType::i64))),
                        where);
    k_.end_loop();
    return read(where);
  }

  KernelBuilder& k_;
  Shapes shapes_;
  std::vector<Reducer> reducers_;
  Accumulators scalar_sums_;
};

}  // namespace

void emit_reduce(KernelBuilder& k) { ReduceEmitter(k).run(); }

}  // namespace tightloop::backends::cpu
