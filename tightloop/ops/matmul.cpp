// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/build.h>
#include <tightloop/ops/index.h>
#include <tightloop/ops/rules.h>

namespace tightloop::ops {
namespace {

struct Flags {
  explicit Flags(const ir::Attrs& attrs)
      : a(attrs.get("transpose_a", false)), b(attrs.get("transpose_b", false)) {}
  bool a;
  bool b;
};

TensorType infer(const InferArgs& args) {
  const TensorType &a = args.inputs[0].type(), &b = args.inputs[1].type();
  const Flags flags(args.attrs);
  const std::size_t rank = a.shape.rank();
  expect(args, a.dtype == b.dtype && is_compute_float(a.dtype), "needs two f32 or two f64 (cast first)");
  expect(args, rank >= 2 && b.shape.rank() == rank, "needs equal ranks of 2 or more");
  auto dims = a.shape.dims();
  for (std::size_t d = 0; d + 2 < rank; ++d)
    expect(args, dims[d] == b.shape[d], "leading dims must be equal");
  const auto side = [&](const Shape& s, bool last) { return s[rank - (last ? 1 : 2)]; };
  expect(args, side(a.shape, !flags.a) == side(b.shape, flags.b), "inner dims must be equal");
  dims[rank - 2] = side(a.shape, flags.a);
  dims[rank - 1] = side(b.shape, !flags.b);
  return {a.dtype, Shape(std::move(dims))};
}

/// One [M, K]·[K, N] product of copies in double.
void multiply(const double* a, const double* b, double* out, std::int64_t m, std::int64_t k, std::int64_t n,
              const Flags& flags) {
  const std::int64_t a_row = flags.a ? 1 : k, a_col = flags.a ? m : 1;
  const std::int64_t b_row = flags.b ? 1 : n, b_col = flags.b ? k : 1;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t j = 0; j < n; ++j)
        out[i * n + j] += a[i * a_row + p * a_col] * b[p * b_row + j * b_col];
}

std::vector<double> doubles(const Array& x) {
  std::vector<double> out(static_cast<std::size_t>(x.count()));
  for (std::int64_t i = 0; i < x.count(); ++i) out[static_cast<std::size_t>(i)] = x.at(i);
  return out;
}

void evaluate(const EvalArgs& args) {
  const Flags flags(args.node.attrs);
  const auto& dims = args.out.dims();
  const std::int64_t m = dims[dims.size() - 2], n = dims.back();
  const std::int64_t k = args.inputs[0]->dims()[dims.size() - (flags.a ? 2 : 1)];
  const auto a = doubles(*args.inputs[0]), b = doubles(*args.inputs[1]);
  std::vector<double> out(static_cast<std::size_t>(args.out.count()), 0);
  const std::int64_t products = m * n == 0 ? 0 : args.out.count() / (m * n);
  for (std::int64_t i = 0; i < products; ++i)
    multiply(a.data() + i * m * k, b.data() + i * k * n, out.data() + i * m * n, m, k, n, flags);
  for (std::int64_t i = 0; i < args.out.count(); ++i) args.out.set(i, out[static_cast<std::size_t>(i)]);
}

Tensors vjp(const Tensor& y, const Tensor& g) {
  const Flags flags(y.node().attrs);
  const Tensor &a = in(y, 0), &b = in(y, 1);
  return {flags.a ? matmul_node(b, g, flags.b, true) : matmul_node(g, b, false, !flags.b),
          flags.b ? matmul_node(g, a, true, flags.a) : matmul_node(a, g, !flags.a, false)};
}

Samples samples() {
  const Dim batch = Dim::batch();
  return {{.inputs = {{DType::f32, {batch, 17}}, {DType::f32, {17, 3}}}},
          {.inputs = {{DType::f32, {batch, 5}}, {DType::f32, {3, 5}}}, .attrs = {{"transpose_b", true}}},
          {.inputs = {{DType::f32, {batch, 5}}, {DType::f32, {batch, 3}}}, .attrs = {{"transpose_a", true}}},
          {.inputs = {{DType::f64, {3, 2}}, {DType::f64, {5, 3}}},
           .attrs = {{"transpose_a", true}, {"transpose_b", true}}},
          {.inputs = {{DType::f64, {2, 3, 4}}, {DType::f64, {2, 4, 1}}}},
          {.inputs = {{DType::f32, {batch, 3, 5}}, {DType::f32, {batch, 17, 5}}},
           .attrs = {{"transpose_b", true}}},
          {.inputs = {{DType::f32, {17, 257}}, {DType::f32, {257, 1}}}},
          {.inputs = {{DType::f32, {1, 1}}, {DType::f32, {1, 1}}}}};
}

}  // namespace

const ir::OpDef& matmul_op() {
  static const ir::OpDef op{
      .name = "matmul",
      .doc =
          "[.., M, K] times [.., K, N] with equal leading dims; a flag says that an input comes with its "
          "last two dims "
          "swapped. f32 accumulates in f32.",
      .kind = ir::OpKind::contraction,
      .arity = 2,
      .attrs = {{"transpose_a", false, false}, {"transpose_b", false, false}},
      .infer = infer,
      .evaluate = evaluate,
      .vjp = vjp,
      .precision = ir::Precision::low,
      .samples = samples,
  };
  return op;
}

}  // namespace tightloop::ops
