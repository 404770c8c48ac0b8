// SPDX-License-Identifier: Apache-2.0
#include <tightloop/ops/elementwise.h>
#include <tightloop/ops/math.h>

namespace tightloop::ops {
namespace {

Scalar fast(Scalar x) {
  ScalarBuilder& b = *x.builder;
  const Scalar bounded = math::at_most(math::at_least(x, -18), 89);
  const Scalar n = b.round(bounded * 1.44269504088896340736);
  const Scalar r =
      b.fma(n, b.like(n, 1.90465429995776804525e-9), b.fma(n, b.like(n, -0.693147182464599609375), bounded));
  const Scalar q = math::polynomial(
      r, {0.5, 0.1666654348373413, 0.041666410863399506, 0.00836657639592886, 0.0013939989730715752});
  const Scalar grown = b.fma(r * r, q, r);
  const Scalar field = b.convert(n, DType::i32) + b.constant_int(DType::i32, 126);
  const Scalar half = b.bitcast(b.shift_left(field, 23), DType::f32);  // 2^n / 2: 2^128 is no f32
  const Scalar y = b.fma(half, grown, half - 0.5);
  return b.select(b.compare(ir::Compare::eq, x, b.like(x, 0)), x, y + y);
}

}  // namespace

const ir::OpDef& expm1_op() {
  static const ir::OpDef op{
      .name = "expm1",
      .doc = "exp(x) - 1, exact near 0. f32 within 1.5 ulp.",
      .infer = same_float,
      .evaluate = [](const EvalArgs& a) { map(a, [](double x) { return std::expm1(x); }); },
      .body = [](ScalarBuilder& b, Scalars in,
                 const ir::Node&) { return math::by_type(b, in[0], "expm1", fast); },
      .vjp = [](const Tensor& y, const Tensor& g) -> Tensors { return {g * (y + 1.0)}; },
      .precision = ir::Precision::high,
      .samples = [] { return float_samples(1, -3, 3); },
  };
  return op;
}

}  // namespace tightloop::ops
