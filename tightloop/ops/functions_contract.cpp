// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/index.h>

namespace tightloop {
namespace {

using namespace ops;

[[noreturn]] void mismatch(const char* function, const Tensor& a, const Tensor& b, const char* rule) {
  throw Error(std::string(function) + ": " + to_string(a.type()) + " and " + to_string(b.type()) + ": " +
              rule);
}

Shape leading(const Shape& s) { return Shape(std::vector<Dim>(s.begin(), s.end() - 2)); }

Shape with_leading(Shape lead, const Shape& matrix) {
  auto dims = lead.dims();
  dims.insert(dims.end(), matrix.end() - 2, matrix.end());
  return Shape(std::move(dims));
}

bool has_one_symbol(const Shape& s) {
  int symbols = 0;
  for (const Dim& d : s) symbols += d.is_static() ? 0 : 1;
  return symbols <= 1;
}

/// x [..., K] times one matrix, all leading dims of x taken as rows.
Tensor rows_times_matrix(const Tensor& x, const Tensor& matrix, bool transposed) {
  const Dim k = x.dim(x.rank() - 1);
  const Shape lead(std::vector<Dim>(x.shape().begin(), x.shape().end() - 1));
  auto dims = lead.dims();
  dims.push_back(matrix.dim(transposed ? 0 : 1));
  return reshape(matmul_node(reshape(x, {lead.count(), k}), matrix, false, transposed),
                 Shape(std::move(dims)));
}

/// Both of rank 2 or more.
Tensor product(Tensor a, Tensor b) {
  const Shape rows(std::vector<Dim>(a.shape().begin(), a.shape().end() - 1));
  if (b.rank() == 2 && has_one_symbol(rows)) return rows_times_matrix(a, b, false);
  const Shape lead = broadcast_shape("matmul", leading(a.shape()), leading(b.shape()));
  return matmul_node(broadcast_to(a, with_leading(lead, a.shape())),
                     broadcast_to(b, with_leading(lead, b.shape())), false, false);
}

DType common_float(const Tensor& a, const Tensor& b) {
  const DType d = promote(a.dtype(), b.dtype());
  return is_compute_float(d) ? d : DType::f32;
}

Tensor index_of(const char* function, Tensor index) {
  if (is_floating(index.dtype()) || index.dtype() == DType::boolean)
    throw Error(std::string(function) + ": the index must be integer, not " +
                std::string(name(index.dtype())));
  return index.dtype() == DType::u8 ? cast(std::move(index), DType::i32) : index;
}

/// Whether a class is the index, [I..., classes].
Tensor hits(const char* function, Tensor index, const Dim& classes) {
  index = index_of(function, std::move(index));
  auto dims = index.shape().dims();
  dims.push_back(classes);
  const auto last = static_cast<std::int64_t>(index.rank());
  return equal(unsqueeze(index, last), iota(Shape(std::move(dims)), last, index.dtype()));
}

}  // namespace

Tensor matmul(Tensor a, Tensor b) {
  if (a.rank() == 0 || b.rank() == 0) mismatch("matmul", a, b, "a scalar has no rows (use *)");
  const Dim inner = b.dim(b.rank() == 1 ? 0 : b.rank() - 2);
  if (a.dim(a.rank() - 1) != inner)
    mismatch("matmul", a, b, "the last dim of the first must equal the last but one of the second");
  const DType dtype = common_float(a, b);
  a = cast(std::move(a), dtype);
  b = cast(std::move(b), dtype);
  const bool row = a.rank() == 1, column = b.rank() == 1;
  Tensor y = product(row ? unsqueeze(a, 0) : a, column ? unsqueeze(b, 1) : b);
  if (column) y = squeeze(y, -1);
  return row ? squeeze(y, column ? -1 : -2) : y;
}

Tensor matmul_transposed(Tensor x, Tensor weight) {
  if (x.rank() == 0 || weight.rank() != 2)
    mismatch("matmul_transposed", x, weight, "needs [..., K] and [N, K]");
  if (x.dim(x.rank() - 1) != weight.dim(1))
    mismatch("matmul_transposed", x, weight, "the last dims must be equal");
  const DType dtype = common_float(x, weight);
  return rows_times_matrix(cast(std::move(x), dtype), cast(std::move(weight), dtype), true);
}

Tensor gather(Tensor table, Tensor index) {
  return ir::make_node(gather_op(), {std::move(table), index_of("gather", std::move(index))});
}

Tensor scatter_add(Tensor index, Tensor updates, Dim rows) {
  index = index_of("scatter_add", std::move(index));
  updates = updates.dtype() == DType::boolean ? cast(std::move(updates), DType::i64)
                                              : computable(std::move(updates));
  if (updates.rank() < index.rank())
    mismatch("scatter_add", index, updates, "updates must begin with the dims of the index");
  std::vector<Dim> dims{rows};
  dims.insert(dims.end(), updates.shape().begin() + static_cast<std::ptrdiff_t>(index.rank()),
              updates.shape().end());
  const TensorType type{updates.dtype(), Shape(std::move(dims))};
  return ir::make_node(scatter_add_op(), {std::move(index), std::move(updates)}, {}, &type);
}

Tensor one_hot(Tensor index, std::int64_t classes, DType dtype) {
  return cast(hits("one_hot", std::move(index), classes), dtype);
}

Tensor take_last(Tensor x, Tensor index) {
  if (x.rank() != index.rank() + 1)
    mismatch("take_last", x, index, "the index must have every dim but the last");
  x = computable(std::move(x));
  const auto last = static_cast<std::int64_t>(index.rank());
  const Tensor mask = hits("take_last", std::move(index), x.dim(x.rank() - 1));
  if (mask.shape() != x.shape()) mismatch("take_last", x, mask, "the index must have every dim but the last");
  return sum(select(mask, x, zeros(x.shape(), x.dtype())), {last});
}

}  // namespace tightloop
